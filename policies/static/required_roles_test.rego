package static.required_roles_test

import data.lib.fixtures
import data.static.required_roles
import rego.v1

reasons(body) := denied if {
	denied := required_roles.deny with input as body with data.settings as fixtures.settings
}

production(members) := object.union(
	{"name": "rollout", "stages": [{"refId": "1", "type": "deploy", "account": "prod-eu"}]},
	members,
)

test_a_production_pipeline_with_one_of_the_roles_is_allowed if {
	reasons({"new": production({"roles": ["devs", "releasers"]})}) == set()
}

test_a_production_pipeline_without_the_roles_is_denied if {
	every members in [{}, {"roles": []}, {"roles": null}, {"roles": ["devs"]}] {
		reasons({"new": production(members)}) == {"pipeline 'rollout' deploys to production; give it at least one of the roles: sre, releasers"}
	}
}

test_a_pipeline_elsewhere_needs_no_role if {
	reasons({"new": {"stages": [{"type": "deploy", "account": "staging"}]}}) == set()
	reasons({"pipeline": {"stages": [], "user": {"name": "ana", "groups": []}}}) == set()
}

test_who_saves_needs_one_of_the_roles if {
	saved_by := {"roles": ["sre"], "user": {"name": "ana", "groups": ["devs"]}}
	reasons({"pipeline": production(saved_by)}) == {concat("", [
		"user 'ana' may not save pipeline 'rollout', which deploys to production; ",
		"that takes one of the roles: sre, releasers",
	])}
	reasons({"pipeline": production({"roles": ["sre"], "user": {"name": "ana", "groups": ["sre"]}})}) == set()
	count(reasons({"pipeline": production({"roles": ["sre"], "user": {}})})) == 1
}

locked_out := {"application 'shop' gives WRITE to none of the roles: sre; add one of them"}

test_an_application_must_not_lock_the_roles_out if {
	application := {"name": "shop", "permissions": {"WRITE": ["devs"]}}
	reasons({"app": {"job": [{"type": "createApp", "application": application}]}}) == locked_out
	reasons({"app": application}) == locked_out
	reasons({"new": {"application": "shop", "permissions": {"WRITE": ["devs"]}}}) == locked_out
}

test_an_application_that_is_open_or_admits_them_is_allowed if {
	every permissions in [{}, {"WRITE": []}, {"WRITE": null}, {"WRITE": ["devs", "sre"]}] {
		reasons({"app": {"job": [{"application": {"name": "shop", "permissions": permissions}}]}}) == set()
	}
	reasons({"app": {"name": "shop", "details": {}}}) == set()
}

test_other_inputs_are_not_refused if reasons({"executionId": "01J0", "stages": production({}).stages}) == set()
