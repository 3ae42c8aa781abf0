package strict

import rego.v1

time_text := time.parse_rfc3339_ns(input.t)

network := net.cidr_expand(input.net)

units_of := units.parse(input.u)

version_order := semver.compare(input.a, input.b)

safe if not time.parse_rfc3339_ns("nope")

pattern := regex.find_n(input.re, "aaa", 1)

divided := 1 / input.n
