import type { Template } from '../grouping/templates.js'
import type { LineSeverity } from '../model/types.js'
import type { Topic } from '../topics/default-topics.js'

const MINUTE_MS = 60_000
const MAX_SAMPLES = 3
const MAX_SAMPLE_CHARACTERS = 500

/** The events of a group on one side. Built up while lines are read. */
export interface SideEvents {
  events: number
  /** Events by minute since the start of the window, without events that have no time. */
  readonly byMinute: Map<number, number>
  readonly samples: string[]
}

export function emptySideEvents(): SideEvents {
  return { events: 0, byMinute: new Map(), samples: [] }
}

/** Counts one event. */
export function countEvent(side: SideEvents, text: string, atMs: number, startMs: number): void {
  side.events += 1
  if (!Number.isNaN(atMs)) addTo(side.byMinute, Math.floor((atMs - startMs) / MINUTE_MS), 1)
  if (side.samples.length < MAX_SAMPLES) addSample(side.samples, shortened(text))
}

/** Adds the counts of another group of the same side, such as one joined with it. */
export function addSide(side: SideEvents, other: SideEvents): void {
  side.events += other.events
  for (const [minute, events] of other.byMinute) addTo(side.byMinute, minute, events)
  for (const sample of other.samples) if (side.samples.length < MAX_SAMPLES) addSample(side.samples, sample)
}

function addTo(counts: Map<number, number>, minute: number, events: number): void {
  counts.set(minute, (counts.get(minute) ?? 0) + events)
}

function addSample(samples: string[], sample: string): void {
  if (!samples.includes(sample)) samples.push(sample)
}

function shortened(text: string): string {
  return text.length > MAX_SAMPLE_CHARACTERS ? `${text.slice(0, MAX_SAMPLE_CHARACTERS)}…` : text
}

/** The events with one template and topic from one logger. */
export interface EventGroup {
  readonly template: Template
  readonly topic: Topic | undefined
  /** Empty if the layout of the log has no logger. */
  readonly logger: string
  readonly severity: LineSeverity
  readonly baseline: SideEvents
  readonly canary: SideEvents
}
