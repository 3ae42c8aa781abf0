import { SpanStatusCode } from '@opentelemetry/api'
import type { HrTime, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api'
import { hrTimeDuration, millisToHrTime } from '@opentelemetry/core'
import type { InstrumentationScope } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'

import type { SpanAttributes } from './telemetry.js'

/** What all spans of the service have in common. */
export interface SpanSource {
  readonly resource: Resource
  readonly scope: InstrumentationScope
}

interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  readonly context: SpanContext
  readonly parent: SpanContext | undefined
  /** An earlier span of the same trace, whose clock this one continues. */
  readonly before: RecordedSpan | undefined
  readonly attributes: SpanAttributes
}

/** The status of spans without an error. */
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET }
/** Shared by all spans, which have none. */
const NOTHING: [] = []

/**
 * A span in the form that the exporter reads. The tracer's own spans copy and check each attribute,
 * which takes several times as long. Spans wait until they are sent, so each has few objects and
 * converts its times when they are read.
 */
export class RecordedSpan implements ReadableSpan {
  name: string
  attributes: SpanAttributes
  status: SpanStatus = UNSET
  readonly kind: SpanKind
  readonly parentSpanContext?: SpanContext
  ended = false
  readonly links = NOTHING
  readonly events = NOTHING
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  readonly #source: SpanSource
  readonly #context: SpanContext
  /** Add it to `performance.now()` for epoch milliseconds. One for a trace, as clocks are corrected. */
  readonly #originMs: number
  readonly #startMs = performance.now()
  #endMs = this.#startMs

  constructor(source: SpanSource, { name, kind, context, parent, before, attributes }: SpanStart) {
    this.#source = source
    this.#context = context
    this.name = name
    this.kind = kind
    this.attributes = attributes
    if (parent !== undefined) this.parentSpanContext = parent
    this.#originMs = before === undefined ? Date.now() - this.#startMs : before.#originMs
  }

  spanContext(): SpanContext {
    return this.#context
  }

  get resource(): Resource {
    return this.#source.resource
  }

  get instrumentationScope(): InstrumentationScope {
    return this.#source.scope
  }

  get startTime(): HrTime {
    return millisToHrTime(this.#originMs + this.#startMs)
  }

  get endTime(): HrTime {
    return millisToHrTime(this.#originMs + this.#endMs)
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime)
  }

  end(): void {
    this.#endMs = performance.now()
    this.ended = true
  }
}
