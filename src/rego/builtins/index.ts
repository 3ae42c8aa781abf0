import type { Builtins, BuiltinTable } from './shared/builtin.js'
import { withCallCosts } from './shared/call-costs.js'
import { castBuiltins } from './shared/cast.js'
import { cryptoBuiltins } from './crypto.js'
import { globQuoteBuiltins } from './glob-quote.js'
import { graphBuiltins } from './graph.js'
import { hexBuiltins } from './hex.js'
import { httpBuiltins } from './http/http-send.js'
import { jsonMarshalBuiltins } from './json-marshal.js'
import { jsonPatchBuiltins } from './json-patch/json-patch.js'
import { jwtBuiltins } from './jwt/jwt.js'
import { largeFamilies } from './large-families.js'
import { nativeFailures } from './native/native-failures.js'
import { netBuiltins } from './net/net.js'
import { numberBuiltins } from './numbers.js'
import { objectSubsetBuiltins } from './object-subset.js'
import { parseModuleBuiltins } from './parse-module.js'
import { printBuiltins } from './print.js'
import { randomBuiltins } from './random.js'
import { regexBuiltins } from './regex/regex.js'
import { runtimeBuiltins } from './shared/runtime.js'
import { semverBuiltins } from './semver.js'
import { sprintfBuiltins } from './sprintf.js'
import { stringSearchBuiltins } from './string-search.js'
import { timeBuiltins } from './time/time.js'
import { uriBuiltins } from './uri.js'
import { unitBuiltins } from './units/units.js'
import { urlQueryBuiltins } from './url-query.js'
import { uuidBuiltins } from './uuid.js'
import { yamlBuiltins } from './yaml/yaml.js'

const table: BuiltinTable = {
  ...largeFamilies.table,
  ...castBuiltins,
  ...cryptoBuiltins,
  ...globQuoteBuiltins,
  ...graphBuiltins,
  ...hexBuiltins,
  ...httpBuiltins,
  ...jsonMarshalBuiltins,
  ...jsonPatchBuiltins,
  ...jwtBuiltins,
  ...nativeFailures,
  ...netBuiltins,
  ...numberBuiltins,
  ...objectSubsetBuiltins,
  ...parseModuleBuiltins,
  ...printBuiltins,
  ...randomBuiltins,
  ...regexBuiltins,
  ...runtimeBuiltins,
  ...semverBuiltins,
  ...sprintfBuiltins,
  ...stringSearchBuiltins,
  ...timeBuiltins,
  ...unitBuiltins,
  ...uriBuiltins,
  ...urlQueryBuiltins,
  ...uuidBuiltins,
  ...yamlBuiltins,
}

/** Every built-in that the host gives to a policy module, and why its native ones fail, by the names in Rego. */
export const hostBuiltins: Builtins = { table: withCallCosts(table), prepare: largeFamilies.prepare }
