"""What an allocator is asked for: requests in the order in which they come.

    requests_of(lives)      # of one of our programs: each value when its step begins, and back when
                            # its last reader is done
    EAGER                   # of PyTorch in eager mode, for one image through ResNet-18

A request is (name, bytes): more than 0 asks for so many bytes, fewer gives those of that name back.
Next room: autograder/units/u04/checks/allocator.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.memory.liveness import Interval, aligned

Request = tuple[str, int]


def requests_of(intervals: Sequence[Interval]) -> list[Request]:
    """What a runtime without a plan would ask for, step by step."""
    asked = sorted(intervals, key=lambda i: i.first)
    ends = sorted(intervals, key=lambda i: i.last)
    requests: list[Request] = []
    for interval in asked:
        while ends and ends[0].last < interval.first:
            done = ends.pop(0)
            requests.append((done.name, -done.size))
        requests.append((interval.name, interval.size))
    return [*requests, *((done.name, -done.size) for done in ends)]


def most_alive(requests: Sequence[Request]) -> int:
    """The most bytes that are asked for and not given back, at any time."""
    alive = most = 0
    for _, size in requests:
        alive += size
        most = max(most, alive)
    return most


def highest(requests: Sequence[Request], offsets: dict[str, int]) -> int:
    """The end of the highest bytes that anybody got."""
    return max((offsets[name] + size for name, size in requests if size > 0), default=0)


def _requests(text: str) -> list[Request]:
    size: dict[str, int] = {}
    found: list[Request] = []
    for word in text.split():
        name, _, asked = word[1:].partition(":")
        size.setdefault(name, aligned(int(asked or 0)))
        found.append((f"v{name}", size[name] if word[0] == "+" else -size[name]))
    return found


# Recorded with torch 2.13.0 on one thread (torch.profiler with profile_memory=True, the allocation
# events of one call under no_grad); sizes are rounded up to 64 bytes. How
# often filters are copied depends on the processor; this one has AVX-512.
EAGER: list[Request] = _requests(
    "+0:37632 +1:3211264 -0 +2:3211264 -1 +3:3211264 +4:256 +5:256 -5 -4 -2 +6:3211264 -3 "
    "+7:802816 +8:1605632 -8 -6 +9:802816 +10:147456 +11:802816 -10 -9 +12:802816 -11 +13:802816 "
    "+14:256 +15:256 -15 -14 -12 +16:802816 -13 +17:802816 +18:147456 +19:802816 -18 -17 "
    "+20:802816 -19 +21:802816 +22:256 +23:256 -23 -22 -20 -16 +24:802816 +25:802816 -24 -21 "
    "+26:802816 +27:147456 +28:802816 -27 -26 +29:802816 -28 +30:802816 +31:256 +32:256 -32 -31 "
    "-29 +33:802816 -30 +34:802816 +35:147456 +36:802816 -35 -34 +37:802816 -36 +38:802816 "
    "+39:256 +40:256 -40 -39 -37 -33 +41:802816 +42:802816 -41 -38 -25 +43:802816 +44:294912 "
    "+45:401408 -44 -43 +46:401408 -45 +47:401408 +48:512 +49:512 -49 -48 -46 +50:401408 -47 "
    "+51:401408 +52:589824 +53:401408 -52 -51 +54:401408 -53 +55:401408 +56:512 +57:512 -57 -56 "
    "-54 -50 +58:200832 +59:802816 +60:32768 +61:401408 -60 -59 -58 +62:401408 -61 +63:401408 "
    "+64:512 +65:512 -65 -64 -62 +66:401408 +67:401408 -66 -55 -63 +68:401408 +69:589824 "
    "+70:401408 -69 -68 +71:401408 -70 +72:401408 +73:512 +74:512 -74 -73 -71 +75:401408 -72 "
    "+76:401408 +77:589824 +78:401408 -77 -76 +79:401408 -78 +80:401408 +81:512 +82:512 -82 -81 "
    "-79 -75 +83:401408 +84:401408 -83 -80 -67 -42 +85:401408 +86:1179648 +87:200704 -86 -85 "
    "+88:200704 -87 +89:200704 +90:1024 +91:1024 -91 -90 -88 +92:200704 -89 +93:200704 "
    "+94:2359296 +95:200704 -94 -93 +96:200704 -95 +97:200704 +98:1024 +99:1024 -99 -98 -96 -92 "
    "+100:100480 +101:401408 +102:131072 +103:200704 -102 -101 -100 +104:200704 -103 +105:200704 "
    "+106:1024 +107:1024 -107 -106 -104 +108:200704 +109:200704 -108 -97 -105 +110:200704 "
    "+111:2359296 +112:200704 -111 -110 +113:200704 -112 +114:200704 +115:1024 +116:1024 -116 "
    "-115 -113 +117:200704 -114 +118:200704 +119:2359296 +120:200704 -119 -118 +121:200704 -120 "
    "+122:200704 +123:1024 +124:1024 -124 -123 -121 -117 +125:200704 +126:200704 -125 -122 -109 "
    "-84 +127:200704 +128:4718592 +129:100352 -128 -127 +130:100352 -129 +131:100352 +132:2048 "
    "+133:2048 -133 -132 -130 +134:100352 -131 +135:100352 +136:9437184 +137:100352 -136 -135 "
    "+138:100352 -137 +139:100352 +140:2048 +141:2048 -141 -140 -138 -134 +142:50304 +143:200704 "
    "+144:524288 +145:100352 -144 -143 -142 +146:100352 -145 +147:100352 +148:2048 +149:2048 -149 "
    "-148 -146 +150:100352 +151:100352 -150 -139 -147 +152:100352 +153:9437184 +154:100352 -153 "
    "-152 +155:100352 -154 +156:100352 +157:2048 +158:2048 -158 -157 -155 +159:100352 -156 "
    "+160:100352 +161:9437184 +162:100352 -161 -160 +163:100352 -162 +164:100352 +165:2048 "
    "+166:2048 -166 -165 -163 -159 +167:100352 +168:100352 -167 -164 -151 -126 -7 +169:2048 "
    "+170:8 +171:4 -171 -170 +172:4000 -169 -168 -172 "
)
