import { html, raw } from 'hono/html'

import type { ImpactRunView } from '../../impact/impact-runs.js'
import { lineRanges } from '../../lib/text/line-ranges.js'
import { NEW_FILE } from '../../rego/index.js'
import type { Explanation, PolicyTrialResult } from '../../rego/index.js'
import { explainedPackages } from './explanation-section.js'
import { impactSection } from './impact-section.js'
import { jsonTree } from './json-tree.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { decisionPath, link } from './parts.js'
import { problemNotice } from './sign-in-page.js'
import type { ShownProblem } from './sign-in-page.js'

/** The fields of the playground. */
export interface PlaygroundForm {
  /** Loaded file that the text replaces; empty for a new one. */
  readonly file: string
  readonly text: string
  readonly path: string
  /** JSON; empty without an input. */
  readonly input: string
  /** The decision that the input is of; empty if it is of none. */
  readonly decision: string
}

interface Tried extends PolicyTrialResult {
  readonly explanation?: Explanation
}

/** The result of the last button. */
export type PlaygroundResult =
  | { readonly kind: 'tried'; readonly tried: Tried }
  | { readonly kind: 'impact'; readonly run: ImpactRunView }
  | ShownProblem

/** An input that the form can take: `decision:ID` or `pipeline:NUMBER`. */
export interface InputChoice {
  readonly value: string
  readonly label: string
}

export interface ShownPlayground {
  readonly form: PlaygroundForm
  readonly result: PlaygroundResult | undefined
  /** Paths of the loaded packages, as suggestions. */
  readonly paths: readonly string[]
  readonly choices: readonly InputChoice[]
  /** Line of the policy that the editor shows first. */
  readonly row?: number | undefined
}

/** Renders the editor for a policy and its input, with the result of the last button. */
export function playgroundPage(
  { form, result, paths, choices, row }: ShownPlayground,
  viewer: Viewer,
): PageContent {
  const { file, text, path, input, decision } = form
  const body = html`<h1>Playground</h1>
    <p class="soft">
      Evaluates a document with this policy, together with the other loaded policies and data. Nothing is
      recorded, nothing is put in service, and policies reach no other host.
    </p>
    <div class="${result === undefined ? '' : 'bench'}">
      ${result === undefined ? '' : html`<div class="results">${resultSection(result, viewer)}</div>`}
      <form method="post" action="${viewer.prefix}/ui/playground">
        ${tokenField(viewer)}
        <input type="hidden" name="file" value="${file}" />
        <input type="hidden" name="decision" value="${decision}" />
        <label for="text">Policy${file === '' ? '' : `, instead of the loaded ${file}`}</label>
        <textarea
          class="code"
          id="text"
          name="text"
          required
          spellcheck="false"
          rows="20"
          data-language="rego"
          ${marksOf(result, form, row)}
        >
${text}</textarea>
        <label for="path">Document to evaluate, such as app/rules/deny</label>
        <input id="path" name="path" required maxlength="1000" value="${path}" list="known-paths" />
        <datalist id="known-paths">${paths.map((each) => html`<option value="${each}"></option>`)}</datalist>
        <div class="row">
          <button class="good" name="action" value="evaluate">Evaluate</button>
          <button name="action" value="explain">Explain</button>
          <button name="action" value="impact">Show the impact</button>
        </div>
        <label for="input">Input as JSON</label>
        ${
          decision === ''
            ? ''
            : html`<p class="soft">
                The input of ${link(viewer.prefix, decisionPath(decision), `decision ${decision}`)}
              </p>`
        }
        <textarea class="code" id="input" name="input" spellcheck="false" data-language="json">
${input}</textarea>
        ${choices.length === 0 ? '' : inputChoice(choices)}
      </form>
    </div>`
  return { title: 'Playground', body, section: '/ui/policies', usesEditor: true }
}

function inputChoice(choices: readonly InputChoice[]): Html {
  return html`<label for="from">Take the input from</label>
    <select id="from" name="from">
      ${choices.map(({ value, label }) => html`<option value="${value}">${label}</option>`)}
    </select>
    <button name="action" value="input">Take this input and evaluate</button>`
}

/** The attributes with the marks that the editor shows at lines. */
function marksOf(
  result: PlaygroundResult | undefined,
  { file }: PlaygroundForm,
  row: number | undefined,
): Html {
  const details =
    result?.kind === 'problem'
      ? result.details
      : result?.kind === 'impact'
        ? (result.run.error?.errors ?? [])
        : []
  const problems = details.flatMap(({ message, location }) =>
    location !== undefined && isOwn(location.file, file)
      ? [{ row: location.row, column: location.col, message }]
      : [],
  )
  const attribute = (name: string, value: unknown): Html | '' =>
    value === undefined ? '' : html`data-${raw(name)}="${JSON.stringify(value)}"`
  return html`${attribute('problems', problems.length === 0 ? undefined : problems)}
  ${attribute('coverage', result?.kind === 'tried' ? result.tried.coverage : undefined)}
  ${attribute('row', row)}`
}

function isOwn(named: string, file: string): boolean {
  return named === (file === '' ? NEW_FILE : file)
}

function resultSection(result: PlaygroundResult, viewer: Viewer): Html {
  if (result.kind === 'problem') return problemNotice(result)
  if (result.kind === 'impact') return impactSection(result.run, viewer)
  const { value, coverage, explanation } = result.tried
  return html`<section class="verdict" role="status">
      <div>
        <h2>Result</h2>
        ${value === undefined ? html`<p>The document is undefined for this input.</p>` : jsonTree(value)}
        ${coverageText(coverage)}
      </div>
    </section>
    ${explanation === undefined ? '' : explainedPackages(explanation)}`
}

function coverageText({ covered, uncovered }: Tried['coverage']): Html {
  const all = covered.length + uncovered.length
  if (all === 0) return html``
  return html`<p class="soft">
    ${covered.length} of ${all} lines of this policy were evaluated.
    ${uncovered.length === 0 ? '' : `Not evaluated: ${lineRanges(uncovered)}.`}
  </p>`
}
