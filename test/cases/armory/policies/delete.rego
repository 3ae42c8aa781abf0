package spinnaker.deployment.tasks.before.deleteManifest

deny["give pods 30 seconds to end"] {
	input.deploy.options.gracePeriodSeconds < 30
}
