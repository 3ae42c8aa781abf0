import { TemplateTable } from '../grouping/template-table.js'
import type { Template } from '../grouping/templates.js'
import { topicFinder } from '../topics/find-topic.js'
import type { FindTopic } from '../topics/find-topic.js'
import type { Topic } from '../topics/default-topics.js'
import { describeLine } from '../records/describe-record.js'
import { PartialLines } from '../records/partial-lines.js'
import { splitHeader } from '../records/split-header.js'
import { readRequest } from '../requests/read-request.js'
import type { LoggedRequest } from '../requests/read-request.js'
import { takeRequest } from '../requests/request-table.js'
import type { RequestTable } from '../requests/request-table.js'
import { EventJoiner } from '../trace/event-joiner.js'
import type { LogEvent } from '../trace/event-joiner.js'
import type { LogSide } from '../model/types.js'
import type { EventGroup } from './event-group.js'
import { withoutSecrets } from './without-secrets.js'
import { addSide, emptySideEvents, takeEvent } from './side-events.js'
import type { SideEvents } from './side-events.js'
import { uniteRenamed } from './unite-renamed.js'

export interface CountedEvents {
  readonly groups: readonly EventGroup[]
  readonly templates: readonly Template[]
  readonly otherEvents: number
  readonly timelessLines: number
  /** What access logs among the lines tell. */
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
 * Groups the events of both sides by what they say, by topic, and by logger. Both go through one table, the baseline first, so that the same
 * lines give the same templates. Memory depends on the templates and on the minutes, not on the lines.
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

/** What events are counted in. */
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
    takeEvent(cell[name], event.text, event.atMs, side.startMs)
    const request = readRequest(event.text)
    if (request !== undefined && isAnswer(request, topic))
      takeRequest(requests[name], request, (event.atMs - side.startMs) / length)
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

/** Not what complains of a status that somebody else gave: that is an error already. */
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
