import { describe, expect, it } from 'vitest'
import { awsBuiltins } from '../../../src/rego/builtins/aws.js'
import { outcomeOf } from '../../support/builtin-outcome.js'
import { readStoredOutcomes } from '../../support/stored-outcomes.js'

describe('signing of requests to AWS', () => {
  it.each(readStoredOutcomes('aws'))('has the outcome of OPA: %s of %s', (builtin, args, outcome) => {
    expect(outcomeOf(awsBuiltins, builtin, args)).toBe(outcome)
  })
})
