"""Where a machine is reached: IP and MAC addresses that may be somebody's, not private, loopback or all zeros."""

from __future__ import annotations

import re
from ipaddress import ip_address
from itertools import pairwise

from .patterns import Kind, pattern, words

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IP_V4 = rf"(?<![\w.:-])(?=\d{{1,3}}\.\d{{1,3}}\.\d{{1,3}}\.\d)(?P<value>(?:{_OCTET}\.){{3}}{_OCTET})(?![\w-]|\.\d)"
_IP_V6 = r"(?<![\w:.])(?P<value>[23][0-9A-Fa-f]{3}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}(?:::)?)(?![\w:])"
_MAC = r"(?<![\w:-])(?P<value>[0-9A-Fa-f]{2}(?:(?P<gap>[:-])[0-9A-Fa-f]{2})(?:(?P=gap)[0-9A-Fa-f]{2}){4})(?![\w:-])"
_VERSION = words(
    "version", "versions", "v", "ver", "release", "releases", "build", "section", "sections", "chapter", "rev"
)
_ADDRESS = re.compile(r"(?:(?<![A-Za-z])(?:ipv?4?|host)(?![A-Za-z])|地址|адрес|عنوان)[^\n]*$", re.IGNORECASE)


def _ip_v4(value: str) -> bool:
    """One that another machine can have; 203.0.113.0/24 and the other ranges for documentation count."""
    address = ip_address(value)
    documentation = value.startswith(("192.0.2.", "198.51.100.", "203.0.113."))
    return documentation or (address.is_global and not address.is_multicast)


def _unlike_a_section(value: str) -> bool:
    """Unlike 23.5.2.105, the number of a section or a version: begins with 40 and more, or has two of three digits."""
    octets = [int(octet) for octet in value.split(".")]
    return _ip_v4(value) and (octets[0] > 39 or sum(octet > 99 for octet in octets) > 1)


def _ip_v6(value: str) -> bool:
    """Of 2000::/3, which is all that is given out."""
    try:
        return ip_address(value).version == 6
    except ValueError:
        return False


def _mac(value: str) -> bool:
    """A single machine's: not for groups, and not a row of equal or counted bytes."""
    pairs = [int(pair, 16) for pair in re.split("[:-]", value)]
    steps = {after - before for before, after in pairwise(pairs)}
    return pairs[0] % 2 == 0 and len(steps) > 1


ADDRESSES = (
    Kind("ip_v6", pattern(_IP_V6), _ip_v6, digits=1, holds=(":",)),
    Kind("mac_address", pattern(_MAC), _mac, holds=(":", "-")),
    Kind("ip_v4", pattern(_IP_V4), _ip_v4, _ADDRESS, digits=4),
    Kind("ip_v4", pattern(_IP_V4), _unlike_a_section, unless=_VERSION, digits=4),
)
