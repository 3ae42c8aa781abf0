package runtime.separation_of_duty_test

import data.runtime.separation_of_duty
import rego.v1

judged_by(user) := {
	"type": "manualJudgment",
	"name": "Approve",
	"status": "SUCCEEDED",
	"context": {"lastModifiedBy": user},
}

reasons(stages) := denied if {
	denied := separation_of_duty.deny with input as {"stages": stages, "trigger": {"user": "ana"}}
}

own := {"'ana' started the pipeline and also approved stage 'Approve'; another person must approve it"}

unnamed := {"stage 'Approve' does not say who approved it; a named person must approve it"}

test_another_person_may_approve if reasons([judged_by("bo")]) == set()

test_the_starter_may_not_approve if reasons([judged_by("ana")]) == own

test_names_compare_without_case_and_blanks if reasons([judged_by(" Ana")]) == own

test_an_approval_without_a_name_is_denied if {
	reasons([judged_by("")]) == unnamed
	reasons([judged_by(null)]) == unnamed
	reasons([object.remove(judged_by("bo"), ["context"])]) == unnamed
}

test_a_judgment_that_still_runs_counts_once_it_says_continue if {
	running := object.union(judged_by("ana"), {"status": "RUNNING"})
	reasons([running]) == set()
	every status in ["continue", "Continue"] {
		reasons([object.union(running, {"context": {"judgmentStatus": status}})]) == own
	}
}

test_other_stages_are_not_approvals if {
	reasons([object.union(judged_by("ana"), {"type": "deployManifest"})]) == set()
}

test_without_approvals_nothing_is_denied if reasons([]) == set()

test_an_unknown_starter_is_denied_once_something_was_approved if {
	separation_of_duty.deny == set() with input as {"stages": []}
	separation_of_duty.deny == {concat("", [
		"it is not known who started the pipeline, so nobody can be told apart from its approvers; ",
		"send trigger.user",
	])} with input as {"stages": [judged_by("bo")]}
}

test_reads_the_pipeline_wrapper if {
	separation_of_duty.deny == own with input as {"pipeline": {"stages": [judged_by("ana")], "trigger": {"user": "ana"}}}
}

test_stages_that_cannot_be_read_are_denied if {
	reasons(json.marshal([judged_by("bo")])) == {"the stages of the execution cannot be read; send a list of objects, each with its context as an object"}
}
