import { z } from 'zod'
import { ConfigSchema } from './config.js'
import { keyDescriptions } from './values/key.js'
import type { KeyDescription } from './values/key.js'

/** How the text of an environment variable is to be read. */
type KeyKind = 'boolean' | 'number' | 'list' | 'text'

/** One key of the configuration, as it is documented and set. */
export interface ConfigKey extends KeyDescription {
  /** The way to it, `['server', 'addr']`. */
  readonly path: readonly string[]
  /** The environment variable that sets it: TIDEGATE_SERVER_ADDR. */
  readonly env: string
  readonly kind: KeyKind
  /** Undefined where the key may be left out altogether. */
  readonly defaultValue: unknown
}

type Schema = z.core.$ZodType

/** All keys in the order of the schema. */
export const configKeys: readonly ConfigKey[] = listKeys(ConfigSchema, [])

/** The names that may be in the object at a path; none when there is no object. */
export function namesAt(path: readonly PropertyKey[]): string[] {
  const schemas = alternatives(schemaAt(path)).filter((schema) => schema instanceof z.ZodObject)
  return [...new Set(schemas.flatMap((schema) => Object.keys(schema.shape)))]
}

/** Which values the key at a path takes, as far as it is told. */
export function allowedAt(path: readonly PropertyKey[]): string | undefined {
  return describe(schemaAt(path, false))?.allowed
}

/** Whether the value at a path may be a secret that was written there by mistake. */
export function isHiddenAt(path: readonly PropertyKey[]): boolean {
  return path.some((_, index) => describe(schemaAt(path.slice(0, index + 1), false))?.isHidden === true)
}

/** Whether the value at a path says where a secret is to be read from. */
export function isSecretReferenceAt(path: readonly PropertyKey[]): boolean {
  return describe(schemaAt(path, false))?.isSecretReference === true
}

function listKeys(schema: Schema, path: readonly string[]): ConfigKey[] {
  const bare = unwrap(schema)
  const about = describe(schema)
  if (about === undefined && bare instanceof z.ZodObject) {
    return Object.entries(bare.shape).flatMap(([name, inner]) => listKeys(inner as Schema, [...path, name]))
  }
  const { description = '', allowed = '' } = about ?? {}
  return [
    { path, env: envName(path), kind: kindOf(bare), defaultValue: defaultOf(schema), description, allowed },
  ]
}

/** The environment variable of a key. */
export function envName(path: readonly string[]): string {
  const words = path.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
  return ['TIDEGATE', ...words].join('_')
}

function kindOf(schema: Schema): KeyKind {
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodArray) return 'list'
  return schema instanceof z.ZodNumber ? 'number' : 'text'
}

function defaultOf(schema: Schema): unknown {
  return schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined
}

function schemaAt(path: readonly PropertyKey[], bare = true): Schema | undefined {
  const found = path.reduce<Schema | undefined>((container, segment) => {
    const members = alternatives(container).map((schema) => memberOf(schema, segment))
    return members.find((schema) => schema !== undefined)
  }, ConfigSchema)
  return bare && found !== undefined ? unwrap(found) : found
}

function memberOf(container: Schema, segment: PropertyKey): Schema | undefined {
  if (container instanceof z.ZodArray) return container.element
  const shape = container instanceof z.ZodObject ? (container.shape as Record<string, Schema>) : {}
  return Object.hasOwn(shape, segment) ? shape[String(segment)] : undefined
}

/** The forms that a value may take: several for a union. */
function alternatives(schema: Schema | undefined): Schema[] {
  const bare = schema === undefined ? undefined : unwrap(schema)
  if (bare instanceof z.ZodUnion) return bare.options.flatMap(alternatives)
  return bare === undefined ? [] : [bare]
}

/** The description of a schema, or of what it makes optional. */
function describe(schema: Schema | undefined): KeyDescription | undefined {
  if (schema === undefined) return undefined
  const inner = unwrapOnce(schema)
  return keyDescriptions.get(schema) ?? (inner === schema ? undefined : describe(inner))
}

/** The schema inside defaults and options. */
function unwrap(schema: Schema): Schema {
  const inner = unwrapOnce(schema)
  return inner === schema ? schema : unwrap(inner)
}

function unwrapOnce(schema: Schema): Schema {
  const isWrapped =
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
  return isWrapped ? schema.def.innerType : schema
}

const INTRODUCTION = `# Configuration

<!-- Made by \`npm run docs:configuration\` from the schema in src/config/. Change it there. -->

Every key has a default, so the service runs without any configuration. A value is looked for in the flags of the
command line, then in the environment, then in the configuration file, then in the defaults below. All problems are
reported together, with the place that each wrong value comes from, and nothing starts until they are mended.

- The file is YAML, or JSON when its name ends with \`.json\`. \`--config FILE\` or \`TIDEGATE_CONFIG\` names it.
- In the environment, lists are separated by commas, or are JSON when they start with \`[\`. A \`TIDEGATE_\` variable that is
  not listed here is an error; an empty one sets nothing (\`[]\` is an empty list).
- Sizes are numbers of bytes, or texts such as \`512KB\` (1000s) and \`10MiB\` (1024s). Paths are relative to the directory
  in which the program is started.
- \`tidegate config\` prints the effective configuration and where each value comes from.
`

const FLAGS = `
## Flags of \`tidegate serve\`

| Flag | Key |
| --- | --- |
| \`--addr\` | \`server.addr\` |
| \`--insecure\` | \`server.insecure\` |
| \`--policies\`, \`--bundle\` | \`policies.directories\`, \`policies.bundles\`: together they replace both |
| \`--watch\` | \`policies.watch\` |
| \`--opa\` | \`policies.opa\` |
| \`--data-dir\` | \`dataDir\` |
| \`--log-level\` | \`log.level\` |
`

/** The reference of all keys as Markdown. */
export function configurationPage(keys: readonly ConfigKey[]): string {
  const sections = [...new Set(keys.map(sectionOf))]
  const tables = sections.map((section) => {
    const rows = keys.filter((key) => sectionOf(key) === section).map(row)
    return `\n## ${section}\n\n| Key | Default | Environment | Meaning | Must be |\n| --- | --- | --- | --- | --- |\n${rows.join('')}`
  })
  return `${INTRODUCTION}${tables.join('')}${FLAGS}`
}

function sectionOf({ path }: ConfigKey): string {
  const [section = '', ...rest] = path
  return rest.length === 0 ? 'Top level' : section
}

function row({ path, env, defaultValue, description, allowed }: ConfigKey): string {
  const shown = defaultValue === undefined ? 'none' : `\`${JSON.stringify(defaultValue)}\``
  const cells = [`\`${path.join('.')}\``, shown, `\`${env}\``, description, allowed]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}
