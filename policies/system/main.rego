# METADATA
# title: The default decision
# description: One question, "may this be saved?", answered from every static policy at once.
package system

import rego.v1

main := {"allow": count(reasons) == 0, "deny": sort(reasons)}

reasons contains reason if some reason in data.static[_].deny
