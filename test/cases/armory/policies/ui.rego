package spinnaker.ui.entitlements.isFeatureEnabled

default allow = true

default message = ""

restricted := {"createApplication", "updateApplication", "upsertProject"}

allow = false {
	is_restricted
}

message = "only admins may do this" {
	is_restricted
}

is_restricted {
	not input.user.isAdmin
	restricted[input.body.job[_].type]
}

is_restricted {
	not input.user.isAdmin
	input.path == ["projects"]
}
