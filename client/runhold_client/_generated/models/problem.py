from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_fault import FieldFault


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """Why a request was not carried out (RFC 9457)."""

    type_: str
    """ Names the kind of problem; ends in its code. """
    title: str
    """ What the kind means. """
    status: int
    """ The HTTP status. """
    detail: str
    """ What was wrong in this case. It never quotes payloads, labels or reasons. """
    code: str
    """ Names the kind of problem; decide by this. """
    permanent: bool
    """ Whether repeating the request cannot help, unless another command changes the stored state first. """
    request_id: str
    """ Names the request in the service's logs. """
    errors: list[FieldFault] | Unset = UNSET
    """ The fields that are wrong, if the body's shape is. """
    limit: int | Unset = UNSET
    """ The size that was exceeded: bytes, or a number of labels. """
    actual: int | Unset = UNSET
    """ The size that was sent; of a body without a declared length, what was read of it. """
    run_id: str | Unset = UNSET
    """ The run that the command contradicts. """
    event_key: str | Unset = UNSET
    """ The event key that is taken. """
    differs: list[str] | Unset = UNSET
    """ The fields in which the stored record differs. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        code = self.code

        permanent = self.permanent

        request_id = self.request_id

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        limit = self.limit

        actual = self.actual

        run_id = self.run_id

        event_key = self.event_key

        differs: list[str] | Unset = UNSET
        if not isinstance(self.differs, Unset):
            differs = self.differs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "code": code,
                "permanent": permanent,
                "request_id": request_id,
            }
        )
        if errors is not UNSET:
            field_dict["errors"] = errors
        if limit is not UNSET:
            field_dict["limit"] = limit
        if actual is not UNSET:
            field_dict["actual"] = actual
        if run_id is not UNSET:
            field_dict["run_id"] = run_id
        if event_key is not UNSET:
            field_dict["event_key"] = event_key
        if differs is not UNSET:
            field_dict["differs"] = differs

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.field_fault import FieldFault

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        code = d.pop("code")

        permanent = d.pop("permanent")

        request_id = d.pop("request_id")

        _errors = d.pop("errors", UNSET)
        errors: list[FieldFault] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = FieldFault.from_dict(errors_item_data)

                errors.append(errors_item)

        limit = d.pop("limit", UNSET)

        actual = d.pop("actual", UNSET)

        run_id = d.pop("run_id", UNSET)

        event_key = d.pop("event_key", UNSET)

        differs = cast(list[str], d.pop("differs", UNSET))

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            code=code,
            permanent=permanent,
            request_id=request_id,
            errors=errors,
            limit=limit,
            actual=actual,
            run_id=run_id,
            event_key=event_key,
            differs=differs,
        )

        problem.additional_properties = d
        return problem

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
