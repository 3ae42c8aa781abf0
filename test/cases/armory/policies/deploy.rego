package spinnaker.deployment.tasks.before.deployManifest

allowed_ports := {443, 8443}

deny[msg] {
	manifest := input.deploy.manifests[_]
	port := manifest.spec.ports[_].port
	not allowed_ports[port]
	msg := sprintf("%v: port %v is not open", [manifest.metadata.name, port])
}
