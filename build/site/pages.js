import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The menu in order: titles, and pages by the paths of their sources. */
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
 * Returns all pages: the path of the source, its Markdown and its URL. Throws if a page of docs/ is
 * in no group, because it would be missing from the menu.
 * @param {string} root folder of the sources
 * @param {Readonly<Record<string, string>>} made Markdown of generated pages, by path
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
