import type { ConfigKey } from './config-keys.js'

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
| \`--capabilities\` | \`policies.capabilities\` |
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
