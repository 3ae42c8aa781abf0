package over

import rego.v1

ruled := "by rule"

from_data := data.over.based
