import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

import type { LogReport, TemplateFinding } from '../../canary/index.js'
import { formatNumber } from './format-number.js'
import { badge, toneOf } from './tone.js'
import type { Tone } from './tone.js'

type Html = HtmlEscapedString | Promise<HtmlEscapedString>

const SEVERITY_TONES: Readonly<Record<string, Tone>> = { critical: 'bad', error: 'bad', warn: 'doubt' }

/**
 * Renders the log analysis of a run: how the logs were compared, and the templates that cost points
 * or could have.
 */
export function logSection(report: LogReport): Html {
  const { verdict, reason, findings, missing, omittedFindings, warnings } = report
  return html`<p>${badge(verdict, toneOf(verdict))} ${reason}</p>
    <p class="soft">${comparison(report)}</p>
    ${warnings.map((warning) => html`<p class="soft">${warning}</p>`)}
    ${findings.length === 0 ? html`<p class="none">No lines with a severity.</p>` : findingTable(findings)}
    ${omittedFindings === 0 ? '' : html`<p class="soft">${omittedFindings} more not shown.</p>`}
    ${
      missing.length === 0
        ? ''
        : html`<details>
            <summary>${missing.length} baseline templates missing in the canary</summary>
            ${findingTable(missing)}
          </details>`
    }`
}

function comparison({ baseline, canary, exposure, templates, mixDivergence }: LogReport): string {
  const sides = [
    baseline === null
      ? 'no baseline'
      : `baseline ${formatNumber(baseline.lines)} lines${cut(baseline.isTruncated)}`,
    `canary ${formatNumber(canary.lines)} lines${cut(canary.isTruncated)}`,
    `${formatNumber(templates)} templates`,
  ]
  if (exposure !== null) {
    sides.push(
      `compared relative to ${BASIS[exposure.basis]}: ${Math.round(exposure.canaryShare * 100)} % on the canary`,
    )
  }
  if (mixDivergence !== null) {
    sides.push(
      `template mix differs by ${formatNumber(mixDivergence)} (0 = same shares, 1 = no template in common)`,
    )
  }
  return sides.join(' · ')
}

const BASIS = { requests: 'requests', ordinaryLines: 'ordinary lines', time: 'running time' } as const

function cut(isTruncated: boolean): string {
  return isTruncated ? ' (truncated by a limit)' : ''
}

function findingTable(findings: readonly TemplateFinding[]): Html {
  return html`<div class="wide">
    <table class="stacked">
      <tr>
        <th>severity</th>
        <th>template</th>
        <th class="number">baseline</th>
        <th class="number">canary</th>
        <th class="number">ratio</th>
        <th class="number">p</th>
        <th class="number">points lost</th>
      </tr>
      ${findings.map(findingRow)}
    </table>
  </div>`
}

function findingRow(finding: TemplateFinding): Html {
  const { severity, template, change, isNewEver, isUnexpected, reason, ratio, pAdjusted, lostPoints } =
    finding
  const changeTone = isUnexpected ? 'bad' : 'soft'
  return html`<tr>
    <td>
      ${badge(severity, SEVERITY_TONES[severity] ?? 'soft')} ${badge(change, changeTone)}
      ${isNewEver ? badge('never seen before', changeTone) : ''}
    </td>
    <td>
      <code>${template}</code>
      <p class="soft">${reason}</p>
      ${sampleLines(finding)}
    </td>
    <td class="number" data-label="baseline">${formatNumber(finding.baselineEvents)}</td>
    <td class="number" data-label="canary">${formatNumber(finding.canaryEvents)}</td>
    <td class="number" data-label="ratio">${ratio === null ? '–' : formatNumber(ratio)}</td>
    <td class="number" data-label="p">${formatNumber(pAdjusted)}</td>
    <td class="number" data-label="points lost">${lostPoints === 0 ? '–' : formatNumber(lostPoints)}</td>
  </tr>`
}

function sampleLines({ samples }: TemplateFinding): Html {
  const side = (name: string, lines: readonly string[]): Html =>
    lines.length === 0
      ? html``
      : html`<p class="soft">${name}</p>
          ${lines.map((line) => html`<pre>${line}</pre>`)}`
  return html`<details>
    <summary>sample lines</summary>
    ${side('canary', samples.canary)} ${side('baseline', samples.baseline)}
  </details>`
}
