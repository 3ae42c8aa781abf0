package lib.execution_test

import data.lib.execution
import rego.v1

test_reads_the_flat_body_and_the_pipeline_wrapper if {
	execution.stages == [{"type": "wait"}] with input as {"stages": [{"type": "wait"}]}
	execution.stages == [{"type": "wait"}] with input as {"pipeline": {"stages": [{"type": "wait"}]}}
	execution.starter == "ana" with input as {"pipeline": "rollout", "trigger": {"user": "ana"}}
	execution.stages == [] with input as {"stages": [null]}
}

test_a_pipeline_in_the_payload_of_a_stage_stands_for_nothing if {
	every name in ["executionId", "payloadConstraint"] {
		body := {name: "x", "application": "shop", "pipeline": {"application": "other"}}
		execution.document.application == "shop" with input as body
	}
}

test_the_starter_is_the_trigger_user_before_all_others if {
	execution.starter == "ana" with input as {"trigger": {"user": " Ana "}, "user": "bo"}
	execution.starter == "bo" with input as {"trigger": {"user": ""}, "user": "bo"}
	execution.starter == "cy" with input as {"authentication": {"user": "cy"}}
	not execution.starter with input as {"trigger": {"user": null}}
}

test_a_start_in_milliseconds_is_the_moment_judged if {
	execution.judged_at_ns == 1718000000123000000 with input as {"startTime": 1718000000123}
	execution.judged_at_ns == 1718000000123000000 with input as {"startTime": "1718000000123"}
}

test_without_a_start_the_moment_is_now if {
	every body in [{}, {"startTime": null}, {"startTime": ""}] {
		execution.judged_at_ns == 42 with input as body with time.now_ns as 42
	}
}

test_an_unreadable_start_gives_no_moment if {
	every start in ["yesterday", "-1", true, [], 0, -1718000000123, 1718000000, "1718000000", 1718000000123000000, 1e300] {
		not execution.judged_at_ns with input as {"startTime": start}
	}
}

test_a_stage_without_context_has_an_empty_one if {
	execution.context({}) == {}
	execution.context({"context": {"a": 1}}) == {"a": 1}
}

test_stages_of_another_shape_are_unreadable if {
	every stages in [json.marshal([{"type": "deploy"}]), {"0": {}}, 5, false, [null], ["x"], [[{}]], [{"context": "{}"}], [{"context": []}]] {
		count(execution.unreadable) == 1 with input as {"executionId": "01J0", "stages": stages}
		count(execution.unreadable) == 1 with input as {"pipeline": {"stages": stages}}
	}
	every stages in [null, [], [{}], [{"context": null}], [{"context": {"a": 1}}]] {
		count(execution.unreadable) == 0 with input as {"executionId": "01J0", "stages": stages}
	}
	count(execution.unreadable) == 0 with input as {}
}
