import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import process from 'node:process'
import { defineConfig } from 'vitepress'

const ROOT = resolve(import.meta.dirname, '../../..')
/** Folder of the pages; tests have a copy. */
const SOURCES = process.env.SITE_SOURCES ?? ROOT
/** Pages outside of docs/, and pages with another name on the site. */
const MOVED = {
  'README.md': 'index.md',
  'CONTRIBUTING.md': 'contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'policies/README.md': 'reference/example-policies.md',
  'docs/README.md': 'pages.md',
  'docs/writing.md': 'writing.md',
  'docs/decisions/README.md': 'decisions/index.md',
}
const FOLDERS = ['tutorials', 'guides', 'reference', 'explanation', 'decisions']
const rewrites = {
  ...MOVED,
  ...Object.fromEntries(
    FOLDERS.flatMap((folder) =>
      readdirSync(join(SOURCES, 'docs', folder))
        .filter((file) => file.endsWith('.md') && file !== 'README.md')
        .map((file) => [`docs/${folder}/${file}`, `${folder}/${file}`]),
    ),
  ),
}
/** Files of the project that pages link to, relative to its root. The site shows them as text. */
const files = new Set()

/** The link of a page, as the site has it. Throws if it leads to no file. */
function siteLink(href, page) {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [path, anchor] = href.split('#')
  const target = relative(SOURCES, resolve(dirname(page), path))
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (rewrites[target] !== undefined) return `/${rewrites[target]}${hash}`
  if (!existsSync(join(SOURCES, target)) || statSync(join(SOURCES, target)).isDirectory())
    throw new Error(`dead link in ${relative(SOURCES, page)}: ${href}`)
  files.add(target)
  return `/files/${target}.txt`
}

function prepareTokens(markdown) {
  markdown.core.ruler.push('site', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open')
        token.attrSet('href', siteLink(token.attrGet('href'), env.realPath ?? env.path))
      // Vue would evaluate braces in code.
      if (token.type === 'code_inline') token.attrSet('v-pre', '')
    }
  })
}

function titleOf(source) {
  return /^# (.*)$/m.exec(readFileSync(join(SOURCES, source), 'utf8'))?.[1].replaceAll('`', '') ?? source
}

function menuOf(folder) {
  return Object.entries(rewrites)
    .filter(([, page]) => page.startsWith(`${folder}/`))
    .map(([source, page]) => ({ text: titleOf(source), link: `/${page.replace(/(?:index)?\.md$/, '')}` }))
}

export default defineConfig({
  title: 'Tidegate',
  description: 'Policy decisions, approval gates, audit and canary analysis for delivery orchestrators',
  srcDir: SOURCES,
  srcExclude: [
    'src/**',
    'test/**',
    'bench/**',
    'build/**',
    'dist*/**',
    'site/**',
    'data/**',
    'policies/*/**',
  ],
  cacheDir: join(ROOT, 'node_modules/.cache/vitepress'),
  rewrites,
  lastUpdated: false,
  markdown: {
    html: false,
    attrs: { disable: true },
    languageAlias: { rego: 'python' },
    config: prepareTokens,
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [{ text: 'All pages', link: '/pages' }],
    sidebar: [
      ...FOLDERS.map((folder) => ({
        text: `${folder[0].toUpperCase()}${folder.slice(1)}`,
        collapsed: folder === 'decisions',
        items: menuOf(folder),
      })),
      {
        text: 'Contributing',
        items: [
          { text: 'Contributing', link: '/contributing' },
          { text: 'How to write', link: '/writing' },
          { text: 'Changelog', link: '/changelog' },
        ],
      },
    ],
  },
  buildEnd({ outDir }) {
    for (const file of files) {
      const copy = join(outDir, 'files', `${file}.txt`)
      mkdirSync(dirname(copy), { recursive: true })
      cpSync(join(SOURCES, file), copy)
    }
  },
})
