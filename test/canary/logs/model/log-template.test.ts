import { describe, expect, it } from 'vitest'

import { readLogTemplate } from '../../../../src/canary/logs/model/log-template.js'
import { AppError } from '../../../../src/errors/app-error.js'

function problemsOf(document: unknown): readonly string[] {
  try {
    readLogTemplate(document)
  } catch (error) {
    if (error instanceof AppError) return error.details.map(({ message }) => message)
    throw error
  }
  return []
}

describe('a log template', () => {
  it('needs no more than a name', () => {
    expect(readLogTemplate({ templateName: 'shop' })).toMatchObject({
      templateName: 'shop',
      sensitivity: 'medium',
      scoringAlgorithm: 'canary',
      errorTopics: [],
      disableDefaultErrorTopics: false,
    })
  })

  it('is read as clients send it: words in any case, texts for numbers, empty texts for what is not set', () => {
    const template = readLogTemplate({
      templateName: 'shop',
      monitoringProvider: 'ELASTICSEARCH',
      accountName: 'es',
      index: '',
      filterKey: 'kubernetes.pod_name',
      responseKeywords: 'message',
      regExFilter: 'true',
      regularExpression: null,
      scoringAlgorithm: 'Autonomous',
      sensitivity: 'High',
      contextualWindowSize: '10',
      tags: [{ id: 1, string: 'db', tag: 'database' }],
      errorTopics: [
        { string: 'OOM', topic: 'CRITICAL', type: 'custom' },
        { errorString: 'slow', topic: 'Warning' },
      ],
      unknown: { anything: true },
    })
    expect(template).toMatchObject({
      index: undefined,
      regExFilter: true,
      regularExpression: undefined,
      scoringAlgorithm: 'autonomous',
      sensitivity: 'high',
      contextualWindowSize: 10,
      tags: [{ string: 'db', tag: 'database' }],
      errorTopics: [
        { string: 'OOM', severity: 'critical' },
        { string: 'slow', severity: 'warn' },
      ],
    })
    expect(template).not.toHaveProperty('unknown')
  })

  it('names everything that is wrong with it at once', () => {
    const problems = problemsOf({
      sensitivity: 'extreme',
      errorTopics: [{ topic: 'error' }, { string: 'x', topic: 'bad' }],
      tags: 'none',
    })
    expect(problems).toEqual([
      expect.stringContaining('templateName is required'),
      expect.stringContaining('sensitivity must be high, medium or low'),
      expect.stringContaining('tags must be an array'),
      expect.stringContaining('errorTopics[0] needs string'),
      expect.stringContaining('errorTopics[1].topic must be critical, error, warn or ignore'),
    ])
  })

  it('does not give one text two severities', () => {
    const errorTopics = ['warn', 'error'].map((topic) => ({ string: 'x', topic }))
    expect(problemsOf({ templateName: 'shop', errorTopics })).toEqual([
      'errorTopics gives one text two severities: keep one of them',
    ])
  })
})
