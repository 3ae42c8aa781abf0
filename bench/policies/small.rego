package bench.access

import rego.v1

default allow := false

allow if {
	input.approved
	some role in input.roles
	data.grants[role][_] == input.action
	not frozen
}

frozen if {
	input.account == data.frozen_accounts[_]
}
