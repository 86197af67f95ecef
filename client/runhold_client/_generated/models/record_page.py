from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.stored_record import StoredRecord


T = TypeVar("T", bound="RecordPage")


@_attrs_define
class RecordPage:
    """A page of records: by position in a run, by commit order in a session. It stops at 8 MiB of payload."""

    records: list[StoredRecord]
    """ In the order asked for; an empty page is an empty list. """
    next_cursor: str
    """ Give it as `cursor` to read on; empty on the last page. """
    end_cursor: str
    """ Where the page ended: a poller goes on from here later. On an empty page, the given cursor. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        records = []
        for records_item_data in self.records:
            records_item = records_item_data.to_dict()
            records.append(records_item)

        next_cursor = self.next_cursor

        end_cursor = self.end_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "records": records,
                "next_cursor": next_cursor,
                "end_cursor": end_cursor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.stored_record import StoredRecord

        d = dict(src_dict)
        records = []
        _records = d.pop("records")
        for records_item_data in _records:
            records_item = StoredRecord.from_dict(records_item_data)

            records.append(records_item)

        next_cursor = d.pop("next_cursor")

        end_cursor = d.pop("end_cursor")

        record_page = cls(
            records=records,
            next_cursor=next_cursor,
            end_cursor=end_cursor,
        )

        record_page.additional_properties = d
        return record_page

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
