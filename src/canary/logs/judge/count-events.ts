import { group } from 'd3-array'

import { TemplateTable } from '../grouping/template-table.js'
import type { Template } from '../grouping/templates.js'
import { topicFinder } from '../topics/find-topic.js'
import type { FindTopic } from '../topics/find-topic.js'
import type { Topic } from '../topics/default-topics.js'
import { describeLine, PartialLines } from '../records/describe-record.js'
import { splitHeader } from '../records/split-header.js'
import { readRequest } from '../requests/read-request.js'
import type { LoggedRequest } from '../requests/read-request.js'
import { countRequest } from '../requests/request-table.js'
import type { RequestTable } from '../requests/request-table.js'
import { EventJoiner } from '../trace/event-joiner.js'
import type { LogEvent } from '../trace/event-joiner.js'
import type { LogSide, LineSeverity } from '../model/types.js'
import type { EventGroup, SideEvents } from './side-events.js'
import { addSide, emptySideEvents, countEvent } from './side-events.js'
import { redactInline, withoutCutSecret } from '../../../lib/redaction/inline-secrets.js'

export interface CountedEvents {
  readonly groups: readonly EventGroup[]
  readonly templates: readonly Template[]
  readonly otherEvents: number
  readonly timelessLines: number
  /** The requests in the access logs of each side. */
  readonly requests: Readonly<Record<SideName, RequestTable>>
}

interface Cell {
  readonly row: number
  readonly topic: Topic | undefined
  readonly logger: string
  readonly baseline: SideEvents
  readonly canary: SideEvents
}

const SERVER_ERROR = 500

type SideName = 'baseline' | 'canary'

/**
 * Groups the events of both sides by template, topic and logger. Both sides go through one table,
 * the baseline first, so that equal lines get equal templates. Memory depends on the templates and
 * minutes, not on the lines.
 */
export function countEvents(
  baseline: LogSide | undefined,
  canary: LogSide,
  topics: readonly Topic[],
): CountedEvents {
  const table = new TemplateTable()
  const cells = new Map<string, Cell>()
  const requests = { baseline: new Map(), canary: new Map() }
  const into = { table, cells, requests, findTopic: topicFinder(topics) }
  const before = baseline === undefined ? 0 : addEvents(baseline, 'baseline', into)
  const now = addEvents(canary, 'canary', into)
  const { templates: found, idOfRow, otherLines } = table.finish()
  const templates = found.map((template) => ({ ...template, text: withoutSecrets(template.text) }))
  const groups = uniteRenamed(joinCells([...cells.values()], templates, idOfRow))
  return { groups, templates, otherEvents: otherLines, timelessLines: before + now, requests }
}

/** The tables in which events are counted. */
interface Counts extends Pick<CountedEvents, 'requests'> {
  readonly table: TemplateTable
  readonly cells: Map<string, Cell>
  readonly findTopic: FindTopic
}

/** Returns how many lines have no time. */
function addEvents(side: LogSide, name: SideName, { table, cells, requests, findTopic }: Counts): number {
  const length = Math.max(1, side.endMs - side.startMs)
  const take = (event: LogEvent | undefined): void => {
    if (event === undefined) return
    const topic = findTopic(event.text)
    const { logger, message } = splitHeader(event.text)
    const row = table.add(message)
    // A logger has no line end in it, but may have blanks.
    const key = `${row}\n${logger}\n${topic?.string ?? ''}`
    let cell = cells.get(key)
    if (cell === undefined) {
      cell = { row, topic, logger, baseline: emptySideEvents(), canary: emptySideEvents() }
      cells.set(key, cell)
    }
    countEvent(cell[name], event.text, event.atMs, side.startMs)
    const request = readRequest(event.text)
    if (request !== undefined && isAnswer(request, topic))
      countRequest(requests[name], request, (event.atMs - side.startMs) / length)
  }
  const joiner = new EventJoiner()
  const partial = new PartialLines()
  let [timeless, lastMs] = [0, Number.NaN]
  for (const { text, atMs } of side.lines) {
    if (Number.isNaN(atMs)) timeless += 1
    lastMs = atMs
    const whole = partial.add(text)
    if (whole !== undefined) take(joiner.add(describeLine(whole), atMs))
  }
  for (const text of partial.rest()) take(joiner.add(describeLine(text), lastMs))
  take(joiner.end())
  return timeless
}

/** Excludes complaints about another server's status below 500: those are errors already. */
function isAnswer({ status }: LoggedRequest, topic: Topic | undefined): boolean {
  const complains = topic?.severity === 'error' || topic?.severity === 'critical'
  return status >= SERVER_ERROR || !complains
}

/** Rows turn out to be one template only at the end. */
function joinCells(
  cells: readonly Cell[],
  templates: readonly Template[],
  idOfRow: Int32Array,
): readonly EventGroup[] {
  const groups = new Map<string, EventGroup>()
  for (const { row, topic, logger, baseline, canary } of cells) {
    const template = templates[(idOfRow[row] ?? 0) - 1]
    if (template === undefined) continue
    const key = JSON.stringify([template.id, topic?.string, logger])
    const group = groups.get(key)
    if (group === undefined) {
      const severity = topic?.severity ?? 'ordinary'
      groups.set(key, { template, topic, logger, severity, baseline, canary })
    } else {
      addSide(group.baseline, baseline)
      addSide(group.canary, canary)
    }
  }
  return [...groups.values()]
}

/** Maximum number of loggers of a message. More are values. */
const MAX_LOGGERS = 50

/**
 * Unites the baseline's loggers with the canary's if they log the same message with the same topic:
 * a renamed or missing logger is not a new error. An additional logger of the canary, next to one
 * on both sides, stays a new group.
 */
function uniteRenamed(groups: readonly EventGroup[]): readonly EventGroup[] {
  const messages = group(withoutDemoted(groups), ({ template, topic }) =>
    JSON.stringify([template.id, topic?.string]),
  )
  return [...messages.values()].flatMap((family) => {
    if (family.length === 1) return family
    if (family.length > MAX_LOGGERS) return joined(family)
    const gone = family.filter(({ canary }) => canary.events === 0)
    const come = family.filter(({ baseline }) => baseline.events === 0)
    if (gone.length === 0 || come.length === 0) return family
    const both = family.filter((one) => !gone.includes(one) && !come.includes(one))
    return [...both, ...joined([...gone, ...come])]
  })
}

const RANKS: readonly LineSeverity[] = ['critical', 'error', 'warn']

/**
 * Unites a message that the baseline logs only as an error and the canary only as a warning: it is
 * not new.
 */
function withoutDemoted(groups: readonly EventGroup[]): readonly EventGroup[] {
  const families = group(groups, ({ template, logger }) => JSON.stringify([template.id, logger])).values()
  return [...families].flatMap((family) => {
    const [one, two] = family.toSorted((a, b) => RANKS.indexOf(a.severity) - RANKS.indexOf(b.severity))
    if (family.length !== 2 || one === undefined || two === undefined) return family
    const isDemoted = one.severity !== two.severity && one.canary.events === 0 && two.baseline.events === 0
    return isDemoted && family.every(({ severity }) => RANKS.includes(severity)) ? joined([two, one]) : family
  })
}

function joined(family: readonly EventGroup[]): EventGroup[] {
  const [first, ...others] = family
  if (first === undefined) return []
  for (const { baseline, canary } of others) {
    addSide(first.baseline, baseline)
    addSide(first.canary, canary)
  }
  return [first]
}

const CUT_MARK = '…'

/** Removes secrets that are recognizable by their form, for reports, chats and callbacks. */
export function withoutSecrets(text: string): string {
  const shown = redactInline(text)?.text ?? text
  return shown.endsWith(CUT_MARK) ? `${withoutCutSecret(shown.slice(0, -1))}${CUT_MARK}` : shown
}
