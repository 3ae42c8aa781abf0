import type { Builtins } from './shared/builtin.js'
import { makeLazyFamily } from './shared/lazy-family.js'
import { re2 } from './regex/re2.js'

/** Built-ins that few policies call and that need much code, each family loaded for the first policy that calls one of it. */
const families: readonly Builtins[] = [
  makeLazyFamily(['providers.aws.sign_req'], async () => (await import('./aws/aws.js')).awsBuiltins),
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

/** All of them. What regular expressions need is loaded then, too. */
export const largeFamilies: Builtins = {
  table: Object.assign({}, ...families.map(({ table }) => table)) as Builtins['table'],
  prepare: async (names) => {
    if (names.some((name) => name.startsWith('regex.'))) re2()
    await Promise.all(families.map(async ({ prepare }) => prepare(names)))
  },
}
