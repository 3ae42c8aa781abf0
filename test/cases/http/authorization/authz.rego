package system.authz

import rego.v1

default allow := false

# OPA has no probes that are exempt.
allow if input.path == ["health"]

allow if input.path == ["v1", "data", "app", "public"]

allow if {
	input.path == ["v1", "data", "app", "secret"]
	input.body.input.user == "ana"
}

allow if input.path[0] in {"access", "openapi.json"}

allow if {
	input.caller.name == "ann"
	input.path[0] in {"audit", "ui", "decisions"}
	not "secret" in input.path
}

allow if input.identity == "root-token"

allow := {"allowed": input.params.allowed[0] == "yes", "reason": "the reason"} if input.path[0] == "object"

allow := 1 / to_number(input.params.by[0]) if input.path[0] == "fails"

allow := x if {
	input.path[0] == "conflict"
	some x in [true, false]
}

allow if {
	input.path[0] == "endless"
	count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a + b == -1]) == 0
}

allow := {"allowed": false, "reason": json.marshal(input)} if "echo" in input.path
