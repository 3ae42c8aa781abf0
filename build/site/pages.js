import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What stands in the menu, in this order: a title, and the pages by the paths of their sources. */
export const GROUPS = [
  ['Start', ['README.md', 'docs/guides/demo.md', 'docs/guides/connect-spinnaker.md', 'docs/reference/command-line.md']],
  ['Policies', ['docs/guides/write-a-policy.md', 'policies/README.md', 'docs/reference/bundles.md', 'docs/reference/conformance.md']],
  [
    'Gates and the trail',
    ['docs/reference/gates.md', 'docs/reference/connectors.md', 'docs/reference/audit.md', 'docs/reference/registry.md', 'docs/reference/delivery-metrics.md'],
  ],
  ['Canaries', ['docs/reference/analysis.md', 'docs/explanation/judge.md', 'docs/explanation/logs.md', 'docs/reference/sources.md']],
  [
    'Operating',
    ['docs/guides/operate.md', 'docs/guides/high-availability.md', 'docs/explanation/reliability.md', 'docs/reference/performance.md'],
  ],
  ['Reference', ['docs/reference/configuration.md', 'docs/reference/api.md', 'api-reference.html', 'cli-reference.html']],
  ['The project', ['docs/explanation/architecture.md', 'docs/reference/dependencies.md', 'CONTRIBUTING.md', 'CHANGELOG.md']],
]

/**
 * All pages: where the source is, its Markdown, and where it will be. Throws where a page of docs/ is in no group, since nobody would find it.
 * @param {string} root where the sources are
 * @param {Readonly<Record<string, string>>} made pages that have no file: their Markdown, by their paths
 */
export function findPages(root, made) {
  const listed = GROUPS.flatMap(([, sources]) => sources)
  const missing = readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`)
    .filter((source) => !listed.includes(source))
  if (missing.length > 0) throw new Error(`in no group of build/site/pages.js: ${missing.join(', ')}`)
  return listed.map((source) => ({
    source,
    url: urlOf(source),
    markdown: made[source] ?? readFileSync(join(root, source), 'utf8'),
  }))
}

function urlOf(source) {
  if (source === 'README.md') return 'index.html'
  return source
    .replace(/^docs\//, '')
    .replaceAll('/', '-')
    .replace(/\.md$/, '.html')
    .toLowerCase()
}
