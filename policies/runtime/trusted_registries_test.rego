package runtime.trusted_registries_test

import data.lib.fixtures
import data.runtime.trusted_registries
import rego.v1

reasons(body) := denied if {
	denied := trusted_registries.deny with input as body with data.settings as fixtures.settings
}

untrusted(where) := {sprintf(
	"image 'evil.test/x' (%s) is not from a trusted registry; take it from one of: %s",
	[where, "registry.test, ghcr.test/team, docker.io/library, docker.io/one/app"],
)}

docker(reference) := {"type": "docker/image", "reference": reference}

test_the_manifests_of_stages_are_judged if {
	reasons({"stages": [{"name": "Deploy", "context": fixtures.running_image("registry.test/x")}]}) == set()
	reasons({"stages": [{"name": "Deploy", "context": fixtures.running_image("evil.test/x")}]}) == untrusted("stage 'Deploy'")
}

test_the_artifacts_of_stages_are_judged if {
	every key in ["context", "outputs"] {
		reasons({"stages": [{"name": "Bake", key: {"artifacts": [docker("evil.test/x")]}}]}) == untrusted("stage 'Bake'")
	}
}

test_the_artifacts_of_the_trigger_are_judged if {
	reasons({"trigger": {"artifacts": [docker("evil.test/x")]}}) == untrusted("the trigger")
	reasons({"trigger": {"artifacts": [docker("registry.test/x")]}}) == set()
}

test_image_ids_are_judged_in_every_form if {
	every ids in [["evil.test/x", "", null], `["evil.test/x"]`, "registry.test/a, evil.test/x", "evil.test/x"] {
		reasons({"imageIds": ids}) == untrusted("imageIds")
	}
	every ids in ["", [], null, "registry.test/x"] { reasons({"imageIds": ids}) == set() }
	count(reasons({"imageIds": `"evil.test/x"`})) == 1
}

test_image_ids_that_cannot_be_read_are_denied if {
	every ids in [{"a": "evil.test/x"}, [["evil.test/x"]], [{"image": "evil.test/x"}], `[["evil.test/x"]]`, 7, false] {
		reasons({"imageIds": ids}) == {"imageIds cannot be read; send a list of texts, or one text with commas"}
	}
}

test_an_unresolved_expression_is_denied if count(reasons({"imageIds": "${parameters.image}"})) == 1

test_reads_the_pipeline_wrapper if {
	reasons({"pipeline": {"trigger": {"artifacts": [docker("evil.test/x")]}}}) == untrusted("the trigger")
}

test_missing_settings_are_denied if {
	trusted_registries.deny == {"policy setting settings.images.trusted must be given, as array"} with input as {}
		with data.settings as object.remove(fixtures.settings, ["images"])
}

test_no_image_needs_no_registry if {
	trusted_registries.deny == set() with input as {"imageIds": ["", " "]} with data.settings.images as {"trusted": ["registry.test"]}
}

test_stages_that_cannot_be_read_are_denied if {
	unread := {"the stages of the execution cannot be read; send a list of objects, each with its context as an object"}
	every stages in ["[]", {"0": {}}, [{"context": "manifests"}]] {
		reasons({"stages": stages}) == unread
	}
}

test_manifests_that_cannot_be_read_are_denied if {
	every manifests in ["${parameters.manifests}", ["kind: Pod"], [{"kind": "Pod", "spec": "${parameters.spec}"}]] {
		body := {"executionId": "01J0", "stages": [{"name": "Deploy", "context": {"manifests": manifests}}]}
		denied := trusted_registries.deny with input as body with data.settings as fixtures.settings
		denied == {"stage 'Deploy' has a manifest that cannot be read; send manifests as objects"}
	}
}
