# METADATA
# title: Manual judgment before production
# description: A person, or a check that can stop the pipeline, looks at every change before it reaches production.
package static.manual_judgment

import data.lib.pipeline
import data.lib.production
import rego.v1

deny contains text if {
	some deploy in production.deploys

	not comes_after_judgment(deploy.stage)
	text := sprintf(
		"%s deploys to production account '%s' without a manual judgment before it; make it depend on one%s",
		[pipeline.label(deploy.stage), deploy.account, hint],
	)
}

# Starts from the references that the stage waits for. Its own reference may belong to another stage, too.
# Compiled, "in" looks at all members of a set one after the other, and there may be thousands.
comes_after_judgment(stage) if {
	some earlier in pipeline.requisites(stage)
	judged[earlier]
}

# Walked once from all judgments forward, because walking back from each deploy costs time for every deploy.
judged := graph.reachable(followers, {pipeline.ref(stage) |
	some stage in pipeline.stages
	is_binding(stage)
})

followers := object.union({pipeline.ref(stage): set() | some stage in pipeline.stages}, later)

later[earlier] contains pipeline.ref(stage) if {
	some stage in pipeline.stages
	some earlier in pipeline.requisites(stage)
}

# A judgment that may be skipped, that is judged already, or whose "stop", failure or end of time lets the
# pipeline go on, protects nothing.
is_binding(stage) if {
	is_judgment(stage)
	not is_conditional(stage)
	not is_given(stage, "judgmentStatus")
	not is_given(stage, "manualSkip")
	not is_given(stage, "continuePipeline")
	not is_given(stage, "markSuccessfulOnTimeout")
}

# The stages of the plugins stop a pipeline as a person's judgment does: by people, or by a policy or an analysis.
# An alias of another kind may be what runs.
is_judgment(stage) if {
	types := pipeline.types(stage)
	count(types) > 0
	every type in types { type in ["manualJudgment", "approval", "verification"] }
}

# The orchestrator reads the type in any letter case.
is_conditional(stage) if {
	is_object(stage.stageEnabled)
	is_given(stage.stageEnabled, "type")
}

# A stage of a v1 template is left out when its condition does not hold.
is_conditional(stage) if is_given(stage, "when")

is_conditional(stage) if {
	is_given(stage, "stageEnabled")
	not is_object(stage.stageEnabled)
}

# An expression is unknown until the stage runs.
is_given(holder, key) if not lower(pipeline.as_text(pipeline.get(holder, key, null))) in ["null", "false", ""]

default hint := ""

hint := " that always runs and that stops the pipeline when refused" if {
	some stage in pipeline.stages
	is_judgment(stage)
	not is_binding(stage)
}
