import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** What stands in the menu, in this order: a title, and the pages by the paths of their sources. */
export const GROUPS = [
  ['Start', ['README.md', 'docs/demo.md', 'docs/orchestrator.md', 'docs/cli.md']],
  ['Policies', ['docs/policies.md', 'policies/README.md', 'docs/bundles.md', 'docs/conformance.md']],
  [
    'Gates and the trail',
    ['docs/gates.md', 'docs/connectors.md', 'docs/audit.md', 'docs/registry.md', 'docs/insights.md'],
  ],
  ['Canaries', ['docs/analysis.md', 'docs/judge.md', 'docs/logs.md', 'docs/sources.md']],
  [
    'Operating',
    ['docs/operating.md', 'docs/several-machines.md', 'docs/reliability.md', 'docs/performance.md'],
  ],
  ['Reference', ['docs/configuration.md', 'docs/http-api.md', 'api-reference.html', 'cli-reference.html']],
  ['The project', ['docs/architecture.md', 'docs/dependencies.md', 'CONTRIBUTING.md', 'CHANGELOG.md']],
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
