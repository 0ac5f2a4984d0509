"""OTLP as JSON: requests of spans."""

from __future__ import annotations

from typing import Any


def value(told: Any) -> dict[str, Any]:
    """An AnyValue of a text, a number, a list or an object."""
    if isinstance(told, list):
        return {"arrayValue": {"values": [value(one) for one in told]}}
    if isinstance(told, dict):
        return {"kvlistValue": {"values": attributes(told)}}
    return {"intValue": str(told)} if isinstance(told, int) else {"stringValue": told}


def attributes(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The attributes as OTLP has them."""
    return [{"key": name, "value": value(one)} for name, one in told.items()]


def span(trace: str, id: str, parent: str, start_s: int, **told: Any) -> dict[str, Any]:
    """A span of one second."""
    times = {"startTimeUnixNano": f"{start_s}000000000", "endTimeUnixNano": f"{start_s + 1}000000000"}
    return {"traceId": trace, "spanId": id, "parentSpanId": parent, **times, "attributes": attributes(told)}


def request(service: str, *spans: dict[str, Any]) -> dict[str, Any]:
    """A request of a service's spans."""
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}
