# METADATA
# title: Separation of duty
# description: Nobody approves a change that they started themselves.
package runtime.separation_of_duty

# Written in the syntax of Rego v0, which most policies in use today have; both kinds load side by side.
import data.lib.execution
import data.lib.pipeline

import future.keywords.in

deny[text] {
	some stage in approvals
	approver(stage) == execution.starter
	text := sprintf("'%s' started the pipeline and also approved %s; another person must approve it", [
		execution.starter,
		pipeline.label(stage),
	])
}

deny[text] {
	some stage in approvals
	not approver(stage)
	text := sprintf("%s does not say who approved it; a named person must approve it", [pipeline.label(stage)])
}

deny["it is not known who started the pipeline, so nobody can be told apart from its approvers; send trigger.user"] {
	count(approvals) > 0
	not execution.starter
}

deny[text] {
	some text in execution.unreadable
}

approvals := [stage |
	some stage in execution.stages
	stage.type == "manualJudgment"
	is_approved(stage)
]

is_approved(stage) {
	stage.status == "SUCCEEDED"
}

# The stage still runs if the orchestrator evaluates this policy right after the judgment.
is_approved(stage) {
	lower(pipeline.as_text(execution.context(stage).judgmentStatus)) == "continue"
}

approver(stage) = execution.person(execution.context(stage).lastModifiedBy)
