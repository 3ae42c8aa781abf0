# METADATA
# title: Separation of duty
# description: Nobody approves a change that they started themselves.
package runtime.separation_of_duty

import data.lib.execution
import data.lib.pipeline
import rego.v1

deny contains text if {
	some stage in approvals
	approver(stage) == execution.starter
	text := sprintf("'%s' started the pipeline and also approved %s; another person must approve it", [
		execution.starter,
		pipeline.label(stage),
	])
}

deny contains text if {
	some stage in approvals
	not approver(stage)
	text := sprintf("%s does not say who approved it; a named person must approve it", [pipeline.label(stage)])
}

deny contains text if {
	text := "it is not known who started the pipeline, so nobody can be told apart from its approvers; send trigger.user"
	count(approvals) > 0
	not execution.starter
}

deny contains text if some text in execution.unreadable

approvals := [stage |
	some stage in execution.stages
	stage.type == "manualJudgment"
	is_approved(stage)
]

is_approved(stage) if {
	stage.status == "SUCCEEDED"
}

# The stage still runs if the orchestrator evaluates this policy right after the judgment.
is_approved(stage) if {
	lower(pipeline.as_text(execution.context(stage).judgmentStatus)) == "continue"
}

approver(stage) := execution.person(execution.context(stage).lastModifiedBy)
