import { compareGroup } from './judge/compare-group.js'
import type { ComparedSides, Comparison } from './judge/compare-group.js'
import { countEvents, withoutSecrets } from './judge/count-events.js'
import type { CountedEvents } from './judge/count-events.js'
import type { EventGroup } from './judge/side-events.js'
import { exposureOf, instanceMinutes } from './judge/exposure.js'
import { scoreFindings, logVerdict } from './judge/log-verdict.js'
import { toFinding, totalGroups, unexplainedTotals, withRenamed } from './judge/total-groups.js'
import { compareRequests } from './requests/compare-requests.js'
import { quietEnds, silenceOf, stormsOf, vanishedOf, warningsOf } from './judge/warnings.js'
import { startEndOf } from './judge/episodes.js'
import { weighFindings } from './judge/weigh-findings.js'
import type { Exposures, WeighedComparison } from './judge/weigh-findings.js'
import type { LogTemplate } from './model/log-template.js'
import type { PlannedInterval } from '../statistics/alpha-spending.js'
import { joinTopics } from './topics/find-topic.js'
import type {
  JudgedLogs,
  LogExposure,
  LogJudgeInput,
  LogJudgeOptions,
  LogReport,
  LogSide,
  LogSideSummary,
  LogState,
  TemplateFinding,
} from './model/types.js'
import { benjaminiHochberg } from '../statistics/benjamini-hochberg.js'

const MAX_FINDINGS = 200
/**
 * Maximum adjusted p of a total, which is all events of one severity. It is stricter than that of a
 * single template, because real changes of totals are far below it.
 */
const TOTALS_ERROR = 0.01

/**
 * The options for judging the logs of an application at one interval, from its template. Without an
 * interval, the run has only one.
 */
export function logJudgeOptions(template: LogTemplate, interval?: PlannedInterval): LogJudgeOptions {
  return {
    topics: joinTopics(template.errorTopics, template.disableDefaultErrorTopics),
    sensitivity: template.sensitivity,
    failsOnCritical: true,
    scoresOrdinaryLines: template.infoScoring,
    emptyLog: 'review',
    interval,
  }
}

/**
 * Judges the log of a canary: which templates with a severity are new or more frequent than in the
 * baseline, by exact tests normalised by exposure. The same input gives the same report.
 */
export function judgeLogs(input: LogJudgeInput, options: LogJudgeOptions): JudgedLogs {
  const counted = countEvents(input.baseline, input.canary, options.topics)
  const report = reportOf(input, counted, options)
  return { report, templatesToRemember: keysToRemember(counted.groups) }
}

function reportOf(input: LogJudgeInput, counted: CountedEvents, options: LogJudgeOptions): LogReport {
  const { groups } = counted
  const state = stateOf(input)
  // Without a baseline the canary is compared with silence of the same length, except for templates
  // that earlier releases logged.
  const baseline = input.baseline ?? { ...input.canary, lines: [] }
  const exposure = input.baseline === undefined ? alone(baseline) : exposureOf(baseline, input.canary, groups)
  const startEnd = startEndOf(groups, exposure, input.canary)
  const sides = { exposure, baseline, canary: input.canary, startEnd }
  const exposures = { ...exposure, lines: linesOf(groups) }
  const comparisons = compared(groups, input).map((group) => compareGroup(group, sides))
  const found = weighFindings(comparisons, input.seenTemplates, exposures, options)
  const kinds = withRenamed(found, exposure)
  const weighed = [...kinds, ...totalsOf(kinds, { input, groups, sides, exposures }, options)]
  const silence = silenceOf(groups, input.baseline, input.canary)
  const vanished = state === 'compared' ? vanishedOf(comparisons, exposure) : undefined
  const { baseline: before, canary: now } = counted.requests
  const requests = compareRequests(before, now)
  const doubts = [silence, vanished, ...requests.map(({ sentence }) => sentence)].filter(
    (sentence) => sentence !== undefined,
  )
  const { score, lostPoints } = scoreFindings(weighed, options.sensitivity)
  const findings = weighed
    .filter(({ group }) => group.severity !== 'ordinary' || options.scoresOrdinaryLines)
    .map((finding) => toFinding(finding, lostPoints.get(finding) ?? 0))
    .toSorted((a, b) => b.lostPoints - a.lostPoints || a.p - b.p || a.cluster - b.cluster)
  return {
    state,
    ...logVerdict({
      state,
      score,
      findings,
      doubt: doubts.length === 0 ? undefined : doubts.join('. '),
      doubtFails: requests.some(({ fails }) => fails),
      thresholds: input.thresholds,
      emptyLog: options.emptyLog,
    }),
    exposure: state === 'compared' ? exposure : null,
    baseline: input.baseline === undefined ? null : summaryOf(input.baseline, groups, 'baseline'),
    canary: summaryOf(input.canary, groups, 'canary'),
    templates: counted.templates.length,
    otherEvents: counted.otherEvents,
    mixDivergence: mixDivergence(groups),
    silence: silence ?? null,
    findings: findings.slice(0, MAX_FINDINGS).map(withShownSamples),
    missing: state === 'compared' ? findMissing(comparisons).map(withShownSamples) : [],
    omittedFindings: Math.max(0, findings.length - MAX_FINDINGS),
    warnings: [
      ...doubts,
      ...quietEnds(groups, input.baseline, input.canary),
      ...(state === 'compared' ? stormsOf(comparisons) : []),
      ...warningsOf(input, counted, exposure),
    ],
  }
}

/** Samples are raw lines, so their secrets are hidden before they are shown. */
function withShownSamples(finding: TemplateFinding): TemplateFinding {
  const { baseline, canary } = finding.samples
  return {
    ...finding,
    samples: { baseline: baseline.map(withoutSecrets), canary: canary.map(withoutSecrets) },
  }
}

interface Compared {
  readonly input: LogJudgeInput
  readonly groups: readonly EventGroup[]
  readonly sides: ComparedSides
  readonly exposures: Exposures
}

/**
 * Tests all events of a severity together and keeps totals that their kinds do not explain. New
 * errors of several kinds may be five lines together. Only for two sides, at a share of the error.
 */
function totalsOf(
  kinds: readonly WeighedComparison[],
  { input, groups, sides, exposures }: Compared,
  options: LogJudgeOptions,
): readonly WeighedComparison[] {
  if (input.baseline === undefined) return []
  const comparisons = totalGroups(groups).map((group) => compareGroup(group, sides))
  const weighed = weighFindings(comparisons, [], exposures, options)
  const seen = new Set(input.seenTemplates)
  const isFirstLogged = !groups.some(
    ({ severity, template }) => severity === 'error' && template.keys.some((key) => seen.has(key)),
  )
  const { canaryShare } = sides.exposure
  // Expected events of the canary for each one of the baseline.
  const odds = canaryShare / (1 - canaryShare)
  return unexplainedTotals(weighed, kinds, odds).filter(
    ({ isUnexpected, pAdjusted, change, asksForReview }) =>
      (isUnexpected && pAdjusted < TOTALS_ERROR) ||
      (change === 'new' && asksForReview && !kinds.some((kind) => kind.asksForReview) && isFirstLogged),
  )
}

/** How many events each side has, and how many of them are errors. */
function linesOf(groups: readonly EventGroup[]): Exposures['lines'] {
  const of = (side: 'baseline' | 'canary', some: readonly EventGroup[]): number =>
    some.reduce((sum, group) => sum + group[side].events, 0)
  const harmful = groups.filter(({ severity }) => severity === 'error' || severity === 'critical')
  return {
    baseline: { all: of('baseline', groups), harmful: of('baseline', harmful) },
    canary: { all: of('canary', groups), harmful: of('canary', harmful) },
  }
}

function stateOf({ baseline, canary }: LogJudgeInput): LogState {
  if (baseline === undefined) return canary.lines.length === 0 ? 'canaryEmpty' : 'noBaseline'
  if (canary.lines.length === 0) return baseline.lines.length === 0 ? 'bothEmpty' : 'canaryEmpty'
  return baseline.lines.length === 0 ? 'baselineEmpty' : 'compared'
}

function alone(side: LogSide): LogExposure {
  const minutes = instanceMinutes(side)
  return { basis: 'time', baseline: minutes, canary: minutes, canaryShare: 0.5 }
}

/** Without a baseline, what an earlier release logged too cannot be compared and costs nothing. */
function compared(groups: readonly EventGroup[], { baseline, seenTemplates }: LogJudgeInput): EventGroup[] {
  if (baseline !== undefined) return [...groups]
  const seen = new Set(seenTemplates)
  return groups.filter(({ template }) => !template.keys.some((key) => seen.has(key)))
}

function summaryOf(
  { lines, isTruncated }: LogSide,
  groups: readonly EventGroup[],
  side: 'baseline' | 'canary',
): LogSideSummary {
  const events = groups.reduce((sum, group) => sum + group[side].events, 0)
  return { lines: lines.length, events, isTruncated }
}

/** Keys of severe templates. Ordinary templates are never compared with earlier releases. */
function keysToRemember(groups: readonly EventGroup[]): readonly string[] {
  const severe = groups.filter(({ severity }) => severity !== 'ordinary' && severity !== 'ignore')
  return [...new Set(severe.flatMap(({ template }) => template.keys))]
}

/** Missing templates are information only, so they must be surer than findings that cost points. */
const FALSE_DISCOVERIES = 0.01
const MAX_MISSING = 50

/**
 * Templates missing from the canary although its exposure lets expect them: work that is no longer
 * done.
 */
function findMissing(comparisons: readonly Comparison[]): readonly TemplateFinding[] {
  const candidates = comparisons.filter(
    ({ change, group }) => change === 'missing' && group.severity !== 'ignore',
  )
  const adjusted = benjaminiHochberg(candidates.map(({ pFewer }) => pFewer))
  return candidates
    .map((comparison, place) => ({ ...comparison, pAdjusted: adjusted[place] ?? 1 }))
    .filter(({ pAdjusted }) => pAdjusted < FALSE_DISCOVERIES)
    .toSorted((a, b) => a.pFewer - b.pFewer)
    .slice(0, MAX_MISSING)
    .map((missing) =>
      toFinding(
        {
          ...{ ...missing, isNewEver: false, asksForReview: false },
          ...{ isUnexpected: false, isFatal: false, isOver: false, loss: 0 },
        },
        0,
      ),
    )
}

/**
 * The difference between the two mixes of templates: the Jensen-Shannon divergence in bits, 0 for
 * equal shares and 1 for nothing in common. Null if a side has no events.
 */
function mixDivergence(groups: readonly EventGroup[]): number | null {
  const before = groups.reduce((sum, { baseline }) => sum + baseline.events, 0)
  const now = groups.reduce((sum, { canary }) => sum + canary.events, 0)
  if (before === 0 || now === 0) return null
  return groups.reduce((sum, { baseline, canary }) => {
    const p = baseline.events / before
    const q = canary.events / now
    return sum + (surprise(p, q) + surprise(q, p)) / 2
  }, 0)
}

function surprise(share: number, other: number): number {
  return share === 0 ? 0 : share * Math.log2((2 * share) / (share + other))
}
