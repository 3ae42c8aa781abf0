package lib.production_test

import data.lib.fixtures
import data.lib.production
import rego.v1

accounts(stage) := {deploy.account | some deploy in deploys} if {
	deploys := production.deploys with input as fixtures.new_with([stage]) with data.settings as fixtures.settings
}

test_the_account_of_a_deploy_stage_is_matched_by_pattern if {
	accounts({"type": "deployManifest", "account": "prod-eu"}) == {"prod-eu"}
	accounts({"type": "deployManifest", "account": "staging"}) == set()
	accounts({"type": "deployManifest", "account": "nonprod-eu"}) == set()
	accounts({"type": "deployManifest", "name": "prod-eu"}) == set()
}

test_other_stage_types_do_not_deploy if accounts({"type": "findImage", "account": "prod-eu"}) == set()

test_the_accounts_of_clusters_count if {
	accounts({"type": "deploy", "clusters": [{"account": "prod-eu"}, {"credentials": "prod-us"}]}) == {"prod-eu", "prod-us"}
}

test_an_account_given_by_an_expression_may_be_production if {
	accounts({"type": "deploy", "credentials": "${parameters.account}"}) == {"${parameters.account}"}
}

test_the_alias_of_a_stage_deploys_as_its_type_does if {
	accounts({"alias": "deployManifest", "account": "prod-eu"}) == {"prod-eu"}
	accounts({"type": "wait", "alias": "deployManifest", "account": "prod-eu"}) == {"prod-eu"}
}

test_the_stages_of_a_v1_template_deploy if {
	stage := {"id": "1", "type": "deployManifest", "config": {"account": "{{ account }}"}}
	deploys := production.deploys with input as {"new": {"config": {"stages": [stage]}}}
		with data.settings as fixtures.settings
	{deploy.account | some deploy in deploys} == {"{{ account }}"}
}
