package spinnaker.http.authz

default message = ""

allow = true {
	input.method == "GET"
	not forbidden
}

allow = false {
	forbidden
}

forbidden {
	input.path[_] == "secrets"
	not is_brewer
}

is_brewer {
	input.user.roles[_] == "brewers"
}

is_brewer {
	input.user.roles[_].name == "brewers"
}

allow = false {
	input.path == ["tasks"]
	input.body.job[_].type == "scaleManifest"
}

message = "scaling is for the autoscaler" {
	input.body.job[_].type == "scaleManifest"
}
