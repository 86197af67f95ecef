from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RunSuspension")


@_attrs_define
class RunSuspension:
    """The private bytes needed to continue a suspended run."""

    id: str
    """ Names the checkpoint; its record carries the same name. """
    data: str
    """ The bytes in standard base64, padded and canonical. """

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        data = self.data

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        data = d.pop("data")

        run_suspension = cls(
            id=id,
            data=data,
        )

        return run_suspension
