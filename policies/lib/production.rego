# METADATA
# title: Deploys to production
# description: Which stages change production is decided once, from the accounts named in the settings.
package lib.production

import data.lib.pipeline
import data.settings.production as settings
import rego.v1

deploys := [{"stage": stage, "account": account} |
	some stage in deploy_stages
	some account in accounts(stage)

	# Not with "in", which compiled looks at all members of a set one after the other.
	production_accounts[account]
]

deploy_stages := [stage |
	some stage in pipeline.stages
	is_deploy(stage)
]

is_deploy(stage) if {
	some type in pipeline.types(stage)
	type in settings.deploy_stage_types
}

# Large pipelines name few accounts many times, and matching patterns is slow.
production_accounts := {account |
	some account in {account | some stage in deploy_stages; some account in accounts(stage)}
	is_production(account)
}

accounts(stage) := {account |
	some holder in array.concat([stage], pipeline.as_list(pipeline.get(stage, "clusters", [])))
	some key in ["account", "credentials"]
	account := holder[key]
	is_string(account)
}

is_production(account) if {
	some pattern in settings.accounts
	glob.match(pattern, [], account)
}

# An account that is only known at run time may be production, so it is treated as production.
is_production(account) if pipeline.is_expression(account)
