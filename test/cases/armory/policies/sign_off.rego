package spinnaker.execution.task.before.signOff

deny["sign off first"] {
	stage := input.pipeline.stages[_]
	stage.type == "signOff"
	not stage.context.ready
}
