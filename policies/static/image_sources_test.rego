package static.image_sources_test

import data.lib.fixtures
import data.static.image_sources
import rego.v1

reasons(pipeline) := denied if {
	denied := image_sources.deny with input as {"new": pipeline} with data.settings as fixtures.settings
}

untrusted(where) := {concat("", [
	where,
	" uses image 'evil.test/x', whose registry is not trusted; ",
	"take it from one of: registry.test, ghcr.test/team, docker.io/library, docker.io/one/app",
])}

test_a_trusted_image_is_allowed if reasons({"stages": [fixtures.running_image("registry.test/shop:1")]}) == set()

test_an_untrusted_image_is_denied if {
	reasons({"stages": [fixtures.running_image("evil.test/x")]}) == untrusted("stage 'Deploy'")
}

test_an_expression_in_the_tag_is_allowed if {
	reasons({"stages": [fixtures.running_image("registry.test/shop:${trigger['tag']}")]}) == set()
}

test_an_expression_that_may_choose_the_registry_is_denied if {
	reasons({"stages": [fixtures.running_image("${parameters.image}")]}) == {concat("", [
		"stage 'Deploy' uses image '${parameters.image}', whose expression may choose the registry; ",
		"write the registry out, one of: registry.test, ghcr.test/team, docker.io/library, docker.io/one/app",
	])}
}

test_an_expression_under_an_untrusted_registry_is_denied if {
	count(reasons({"stages": [fixtures.running_image("evil.test/${parameters.image}")]})) == 1
}

test_expected_artifacts_are_judged if {
	every key in ["matchArtifact", "defaultArtifact"] {
		reasons({"expectedArtifacts": [{key: {"type": "docker/image", "name": "evil.test/x"}}]}) == untrusted("an expected artifact")
	}
	reasons({"expectedArtifacts": [{"matchArtifact": {"type": "docker/image", "name": "registry.test/x"}}]}) == set()
	reasons({"expectedArtifacts": [{"matchArtifact": {"type": "git/repo", "name": "evil.test/x"}}]}) == set()
}

test_docker_triggers_are_judged if {
	reasons({"triggers": [{"type": "docker", "registry": "evil.test", "repository": "x"}]}) == untrusted("a docker trigger")
	reasons({"triggers": [{"type": "docker", "registry": "registry.test", "repository": "x"}]}) == set()
	reasons({"triggers": [{"type": "git", "registry": "evil.test", "repository": "x"}]}) == set()
}

test_other_inputs_are_not_refused if image_sources.deny == set() with input as {"app": {"name": "shop"}}

test_images_in_nested_lists_of_manifests_are_judged if {
	stage := fixtures.running_image("evil.test/x")
	reasons({"stages": [object.union(stage, {"manifests": [stage.manifests]})]}) == untrusted("stage 'Deploy'")
}
