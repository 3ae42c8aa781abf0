import { awsBuiltins } from './aws/aws.js'
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
import { jsonSchemaBuiltins } from './json-schema/json-schema.js'
import { jwtBuiltins } from './jwt/jwt.js'
import { makeLazyFamily } from './shared/lazy-family.js'
import { nativeFailures } from './native/native-failures.js'
import { netBuiltins } from './net/net.js'
import { numberBuiltins } from './numbers.js'
import { objectSubsetBuiltins } from './object-subset.js'
import { parseModuleBuiltins } from './parse-module.js'
import { printBuiltins } from './print.js'
import { randomBuiltins } from './random.js'
import { regexBuiltins } from './regex/regex.js'
import { renderTemplateBuiltins } from './render-template/render-template.js'
import { runtimeBuiltins } from './shared/runtime.js'
import { semverBuiltins } from './semver.js'
import { sprintfBuiltins } from './sprintf.js'
import { stringSearchBuiltins } from './string-search.js'
import { timeBuiltins } from './time/time.js'
import { uriBuiltins } from './uri.js'
import { unitBuiltins } from './units/units.js'
import { urlQueryBuiltins } from './url-query.js'
import { uuidBuiltins } from './uuid.js'
import { x509Builtins } from './x509/x509.js'
import { yamlBuiltins } from './yaml/yaml.js'

const graphqlFamily = makeLazyFamily(
  [
    'graphql.is_valid',
    'graphql.parse',
    'graphql.parse_and_verify',
    'graphql.parse_query',
    'graphql.parse_schema',
    'graphql.schema_is_valid',
  ],
  async () => (await import('./graphql/graphql.js')).graphqlBuiltins,
)

const table: BuiltinTable = {
  ...awsBuiltins,
  ...castBuiltins,
  ...cryptoBuiltins,
  ...globQuoteBuiltins,
  ...graphBuiltins,
  ...graphqlFamily.table,
  ...hexBuiltins,
  ...httpBuiltins,
  ...jsonMarshalBuiltins,
  ...jsonPatchBuiltins,
  ...jsonSchemaBuiltins,
  ...jwtBuiltins,
  ...nativeFailures,
  ...netBuiltins,
  ...numberBuiltins,
  ...objectSubsetBuiltins,
  ...parseModuleBuiltins,
  ...printBuiltins,
  ...randomBuiltins,
  ...regexBuiltins,
  ...renderTemplateBuiltins,
  ...runtimeBuiltins,
  ...semverBuiltins,
  ...sprintfBuiltins,
  ...stringSearchBuiltins,
  ...timeBuiltins,
  ...unitBuiltins,
  ...uriBuiltins,
  ...urlQueryBuiltins,
  ...uuidBuiltins,
  ...x509Builtins,
  ...yamlBuiltins,
}

/** Every built-in that the host gives to a policy module, and why its native ones fail, by the names in Rego. */
export const hostBuiltins: Builtins = { table: withCallCosts(table), prepare: graphqlFamily.prepare }
