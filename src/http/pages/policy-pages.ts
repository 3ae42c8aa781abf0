import { html } from 'hono/html'

import { lineRanges } from '../../lib/text/line-ranges.js'
import type { FileCoverage, SourceText } from '../../rego/index.js'
import type { PackageRefusals } from '../../decisions/refusals.js'
import { disabledLog } from './decision-pages.js'
import { decisionTable, linkPath } from './decision-table.js'
import type { ListedDecisions } from './decision-table.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, table } from './lists.js'
import { stageSection } from './stage-section.js'
import type { ShownStage } from './stage-section.js'
import { barRow, empty, facts, link, moment } from './parts.js'
import { costText, durationText, testSection } from './policy-tests.js'
import type { PolicyResult, ShownCost } from './policy-tests.js'
import { regoText } from './rego-text.js'

const PATH = '/ui/policies'

/** A loaded package in the index. */
export interface ShownPackage {
  /** As in Rego: `app.rules`. */
  readonly name: string
  readonly path: string
  /** Undefined if decisions are not stored. */
  readonly refusals: PackageRefusals | undefined
}

export interface ShownPolicies {
  readonly search: string
  readonly packages: readonly ShownPackage[]
  /** Number of matches on all pages. */
  readonly total: number
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
  readonly revision: string
  readonly activatedMs: number
  readonly stage: ShownStage | undefined
  readonly pinned: string | undefined
  /** Why the last reload failed. */
  readonly failure: string | undefined
  readonly warnings: readonly string[]
  readonly days: number
}

/** Renders the loaded packages with their refusals. */
export function policiesPage(shown: ShownPolicies, viewer: Viewer): PageContent {
  const {
    search,
    packages,
    total,
    cursor,
    nextCursor,
    revision,
    activatedMs,
    stage,
    pinned,
    failure,
    warnings,
    days,
  } = shown
  const body = html`<h1>Policies</h1>
    ${facts([
      ['revision', html`<code>${revision}</code>`],
      ['in service since', moment(activatedMs)],
      ['pinned to revision', pinned],
      ['last reload', failure],
    ])}
    ${stageSection(stage, viewer)}
    ${mayEdit(viewer) ? html`<p>${link(viewer.prefix, '/ui/playground', 'Playground: try a policy')}</p>` : ''}
    ${filterForm(PATH, [{ name: 'search', label: 'Package', value: search }], viewer)}
    <h2>Packages (${total})</h2>
    ${
      packages.length === 0
        ? search === ''
          ? empty('No package is loaded.', html`Name a directory in <code>policies.directories</code>.`)
          : empty('No matching package.', link(viewer.prefix, PATH, 'Show all'))
        : table(packages, [
            {
              head: 'package',
              cell: ({ name, path }) =>
                html`<a href="${viewer.prefix}${PATH}/${linkPath(path)}"><code>${name}</code></a>`,
              isPlain: true,
            },
            {
              head: `refusals in ${days} days`,
              cell: ({ name, refusals }) => refusalCount(name, refusals, viewer),
              isNumber: true,
            },
            { head: 'trend', cell: ({ refusals }) => (refusals === undefined ? '' : trend(refusals)) },
          ])
    }
    ${pager({ path: PATH, query: { search }, cursor, nextCursor }, viewer)}
    ${
      warnings.length === 0
        ? ''
        : html`<h2>Warnings</h2>
            <ul>
              ${warnings.map((warning) => html`<li>${warning}</li>`)}
            </ul>`
    }`
  return { title: 'Policies', body, section: PATH }
}

function refusalCount(name: string, refusals: PackageRefusals | undefined, { prefix, roles }: Viewer): Html {
  if (refusals === undefined) return html`–`
  const { total, isMore } = refusals
  const text = isMore ? `more than ${total}` : String(total)
  if (total === 0 || !roles.includes('auditor')) return html`${text}`
  return link(prefix, `/ui/decisions?package=${encodeURIComponent(name)}`, text)
}

/** Draws the refusals of each day as bars, relative to the largest. */
function trend({ counts }: PackageRefusals): Html {
  const largest = Math.max(...counts)
  if (largest === 0) return html`<span class="soft">none</span>`
  const bars = counts.map((count) => ({
    part: count === 0 ? undefined : count / largest,
    tone: 'bad' as const,
  }))
  return barRow(`refusals by day, oldest first: ${counts.join(', ')}`, counts.length, bars)
}

export interface ShownPolicy {
  /** Requested package or rule, under `data`. */
  readonly path: string
  /** Package name in Rego. */
  readonly packageName: string
  readonly revision: string
  readonly activatedMs: number
  /** Level in the policy's own metadata, if it states one. */
  readonly level: string | undefined
  readonly sources: readonly SourceText[]
  readonly refusals: PackageRefusals | undefined
  /** Undefined if decisions are not stored. */
  readonly decisions: ListedDecisions | undefined
  readonly cost: ShownCost
  /** The result of the last button. */
  readonly result: PolicyResult | undefined
}

/** Renders a policy with its metadata, refusals, latest decisions and source. */
export function policyPage(shown: ShownPolicy, viewer: Viewer): PageContent {
  const { path, packageName, revision, activatedMs, level, sources, refusals, decisions, cost, result } =
    shown
  const coverage = result === undefined || result.kind === 'problem' ? [] : result.coverage
  const metadata = sources.flatMap(({ text }) => metadataIn(text))
  const body = html`<h1>Policy ${path}</h1>
    ${facts([
      ['package', html`<code>${packageName}</code>`],
      ['level', level],
      ['revision', html`<code>${revision}</code>`],
      ['in service since', moment(activatedMs)],
      [
        'refusals in 14 days',
        refusals && html`${refusalCount(packageName, refusals, viewer)} ${trend(refusals)}`,
      ],
      ['evaluation cost', costText(cost)],
      ['decisions take', durationText(cost.durationsMs)],
    ])}
    ${sources.length > 0 && mayEdit(viewer) ? testSection(shown, `${PATH}/${linkPath(path)}`, viewer) : ''}
    ${
      metadata.length === 0
        ? ''
        : html`<h2>Metadata</h2>
            ${metadata.map((block) => html`<pre tabindex="0">${block}</pre>`)}`
    }
    <h2>Latest decisions</h2>
    ${
      decisions === undefined
        ? disabledLog()
        : html`<p class="soft">
              Decisions requested at this path, and denials by the package ${packageName}. A decision over
              several packages, such as saving a pipeline, is listed here only if this package denied it.
            </p>
            ${decisionTable(decisions, viewer, { package: packageName })}`
    }
    <h2 id="source">Source</h2>
    ${
      coverage.length === 0
        ? ''
        : html`<p class="key soft">
            <i class="covered"></i>evaluated by
            ${result?.kind === 'tests' ? 'the passing tests' : 'the latest decisions'}
            <i class="uncovered"></i>not evaluated
          </p>`
    }
    ${
      sources.length === 0
        ? html`<p class="none">The bundle does not include Rego sources.</p>`
        : sources.map((source) =>
            sourceBlock(
              source,
              coverage.find(({ file }) => file === source.file),
              packageName,
              viewer,
            ),
          )
    }`
  return { title: `Policy ${path}`, body, section: PATH }
}

function mayEdit({ roles }: Pick<Viewer, 'roles'>): boolean {
  return roles.includes('author') || roles.includes('auditor')
}

function sourceBlock(
  { file, text }: SourceText,
  coverage: FileCoverage | undefined,
  packageName: string,
  { prefix, roles }: Viewer,
): Html {
  const playground = `/ui/playground?package=${encodeURIComponent(packageName)}&file=${encodeURIComponent(file)}`
  return html`<h3>${file}</h3>
    ${mayEdit({ roles }) ? html`<p>${link(prefix, playground, 'Edit in the playground')}</p>` : ''}
    ${coverage !== undefined && coverage.uncovered.length > 0 ? html`<p class="soft">Not evaluated: ${lineRanges(coverage.uncovered)}</p>` : ''}
    ${regoText(text, coverage)}`
}

/** Returns the lines of the `# METADATA` comments of a file, without their comment marks. */
function metadataIn(source: string): readonly string[] {
  const blocks: string[] = []
  let block: string[] | undefined
  for (const line of source.split('\n')) {
    if (/^#\s*METADATA\s*$/.test(line)) block = []
    else if (block !== undefined && line.startsWith('#')) block.push(line.replace(/^# ?/, ''))
    else if (block !== undefined) {
      blocks.push(`${block.join('\n')}\n→ ${line.trim()}`)
      block = undefined
    }
  }
  return blocks
}
