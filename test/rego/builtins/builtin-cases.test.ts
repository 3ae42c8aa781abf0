import { describe, expect, it } from 'vitest'

import { castBuiltins } from '../../../src/rego/builtins/cast.js'
import { cryptoBuiltins } from '../../../src/rego/builtins/crypto.js'
import { jsonMarshalBuiltins } from '../../../src/rego/builtins/encoding/json-text.js'
import { globQuoteBuiltins } from '../../../src/rego/builtins/glob/glob.js'
import { jsonPatchBuiltins } from '../../../src/rego/builtins/json-patch/json-patch.js'
import { nativeFailures } from '../../../src/rego/builtins/native/native-failures.js'
import { objectSubsetBuiltins } from '../../../src/rego/builtins/graph.js'
import { semverBuiltins } from '../../../src/rego/builtins/semver.js'
import { stringBuiltins } from '../../../src/rego/builtins/strings.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe.each([
  ['cast', castBuiltins],
  ['glob-quote', globQuoteBuiltins],
  ['hex', cryptoBuiltins],
  ['json-marshal', jsonMarshalBuiltins],
  ['json-patch', jsonPatchBuiltins],
  ['native-failures', nativeFailures],
  ['object-subset', objectSubsetBuiltins],
  ['semver', semverBuiltins],
  ['string-search', stringBuiltins],
])('the built-ins of %s', (cases, builtins) => {
  it.each(builtinCases(cases))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(builtins, builtin, args)).toBe(outcome)
  })
})
