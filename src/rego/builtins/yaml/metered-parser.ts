import { Parser } from 'yaml'
import type { CST } from 'yaml'
import type { WorkMeter } from '../../metering/work-meter.js'

/** Steps of a lexeme on its way to a value: the library's parser and composer make several objects of each. */
const LEXEME_STEPS = 300
const LEXEME_BYTES = 400
/** Levels below which the recursion of the composer is far from the end of the stack; Go yaml takes 10,000. */
const MAX_DEPTH = 250

/** The library's parser, which pays for each lexeme before it takes it, and for all that is done with it later. */
export class MeteredParser extends Parser {
  readonly #meter: WorkMeter

  constructor(meter: WorkMeter) {
    super()
    this.#meter = meter
  }

  override *next(source: string): Generator<CST.Token, void> {
    this.#meter.spend(LEXEME_STEPS)
    this.#meter.reserve(LEXEME_BYTES)
    if (this.stack.length > MAX_DEPTH) this.#meter.exceed(`YAML is nested deeper than ${MAX_DEPTH} levels`)
    yield* super.next(source)
  }
}
