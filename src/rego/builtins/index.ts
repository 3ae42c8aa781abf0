import { AppError } from '../../errors/app-error.js'
import { partOnDemand } from '../../lib/on-demand.js'
import { cryptoBuiltins } from './crypto.js'
import { globQuoteBuiltins } from './glob/glob.js'
import { graphBuiltins, objectSubsetBuiltins } from './graph.js'
import { httpBuiltins } from './http/http-send.js'
import { jsonMarshalBuiltins } from './encoding/json-text.js'
import { jsonPatchBuiltins } from './json-patch/json-patch.js'
import { jwtBuiltins } from './jwt/jwt.js'
import { nativeFailures } from './native/native-failures.js'
import { netBuiltins } from './net/net.js'
import { numberBuiltins, castBuiltins } from './cast.js'
import { runtimeBuiltins } from './runtime.js'
import { re2 } from './regex/compile.js'
import { regexBuiltins } from './regex/regex.js'
import { semverBuiltins } from './semver.js'
import type { Builtin, Builtins, BuiltinTable } from './shared/builtin.js'
import { withCallCosts } from './shared/call-costs.js'
import { stringBuiltins } from './strings.js'
import { timeBuiltins } from './time/time.js'
import { unitBuiltins } from './units.js'
import { urlBuiltins } from './url.js'
import { uuidBuiltins } from './uuid.js'
import { yamlBuiltins } from './yaml/yaml.js'

/** Rarely used built-ins with much code, loaded for the first policy that calls them. */
const families: readonly Builtins[] = [
  makeLazyFamily(['providers.aws.sign_req'], async () => (await import('./aws.js')).awsBuiltins),
  makeLazyFamily(
    [
      'graphql.is_valid',
      'graphql.parse',
      'graphql.parse_and_verify',
      'graphql.parse_query',
      'graphql.parse_schema',
      'graphql.schema_is_valid',
    ],
    async () => (await import('./graphql/graphql.js')).graphqlBuiltins,
  ),
  makeLazyFamily(
    ['json.match_schema', 'json.verify_schema'],
    async () => (await import('./json-schema/json-schema.js')).jsonSchemaBuiltins,
  ),
  makeLazyFamily(
    ['strings.render_template'],
    async () => (await import('./render-template/render-template.js')).renderTemplateBuiltins,
  ),
  makeLazyFamily(
    [
      'crypto.parse_private_keys',
      'crypto.x509.parse_and_verify_certificates',
      'crypto.x509.parse_and_verify_certificates_with_options',
      'crypto.x509.parse_certificate_request',
      'crypto.x509.parse_certificates',
      'crypto.x509.parse_keypair',
      'crypto.x509.parse_rsa_private_key',
    ],
    async () => (await import('./x509/x509.js')).x509Builtins,
  ),
]

/** Returns certificates (PEM, or DER in base64) as a list in JSON, as Go prints its structure. */
export async function certificatesJson(text: string): Promise<string> {
  const { printCertificates } = await import('./x509/x509.js')
  return printCertificates(text)
}

/** All lazily loaded families. Preparing also loads the regular expression engine. */
export const largeFamilies: Builtins = {
  table: Object.assign({}, ...families.map(({ table }) => table)) as Builtins['table'],
  prepare: async (names) => {
    if (names.some((name) => name.startsWith('regex.'))) re2()
    await Promise.all(families.map(async ({ prepare }) => prepare(names)))
  },
}

const table: BuiltinTable = {
  ...largeFamilies.table,
  ...castBuiltins,
  ...cryptoBuiltins,
  ...globQuoteBuiltins,
  ...graphBuiltins,
  ...httpBuiltins,
  ...jsonMarshalBuiltins,
  ...jsonPatchBuiltins,
  ...jwtBuiltins,
  ...nativeFailures,
  ...netBuiltins,
  ...numberBuiltins,
  ...objectSubsetBuiltins,
  ...regexBuiltins,
  ...runtimeBuiltins,
  ...semverBuiltins,
  ...stringBuiltins,
  ...timeBuiltins,
  ...unitBuiltins,
  ...urlBuiltins,
  ...uuidBuiltins,
  ...yamlBuiltins,
}

/** All host built-ins and corrections of native ones, by their names in Rego. */
export const hostBuiltins: Builtins = { table: withCallCosts(table), prepare: largeFamilies.prepare }

/** Creates a family of built-ins that is loaded when one of them is first prepared. */
export function makeLazyFamily(names: readonly string[], loadTable: () => Promise<BuiltinTable>): Builtins {
  const load = partOnDemand(loadTable)
  let loaded: BuiltinTable | undefined
  const builtin =
    (name: string): Builtin =>
    (args, context) => {
      const found = loaded?.[name]
      if (found === undefined) throw new AppError('internal', `${name} is called before it was loaded`)
      return found(args, context)
    }
  return {
    table: Object.fromEntries(names.map((name) => [name, builtin(name)])),
    prepare: async (called) => {
      if (called.some((name) => names.includes(name))) loaded = await load()
    },
  }
}
