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

/**
 * A span in the form that the exporter reads. The tracer's own spans copy and check each attribute,
 * which takes several times as long.
 */
export class RecordedSpan implements ReadableSpan {
  name: string
  attributes: SpanAttributes
  status: SpanStatus = { code: SpanStatusCode.UNSET }
  readonly kind: SpanKind
  readonly spanContext: () => SpanContext
  readonly parentSpanContext?: SpanContext
  readonly resource: Resource
  readonly instrumentationScope: InstrumentationScope
  readonly startTime: HrTime
  endTime: HrTime
  ended = false
  readonly links = []
  readonly events = []
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  /** Add it to `performance.now()` for epoch milliseconds. One for a trace, as clocks are corrected. */
  readonly #originMs: number

  constructor({ resource, scope }: SpanSource, start: SpanStart) {
    const { name, kind, context, parent, before, attributes } = start
    this.resource = resource
    this.instrumentationScope = scope
    this.name = name
    this.kind = kind
    this.attributes = attributes
    this.spanContext = () => context
    if (parent !== undefined) this.parentSpanContext = parent
    const nowMs = performance.now()
    this.#originMs = before === undefined ? Date.now() - nowMs : before.#originMs
    this.startTime = millisToHrTime(this.#originMs + nowMs)
    this.endTime = this.startTime
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime)
  }

  end(): void {
    this.endTime = millisToHrTime(this.#originMs + performance.now())
    this.ended = true
  }
}
