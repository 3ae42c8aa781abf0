package spinnaker.execution.pipelines.before

deny[msg] {
	input.pipeline.trigger.type == "pipeline"
	not input.user.isAdmin
	msg := "pipelines may not start others"
}

response := {"allowed": count(deny) == 0, "errors": [msg | deny[msg]]}
