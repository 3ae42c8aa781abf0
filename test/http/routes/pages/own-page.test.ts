import { describe, expect, test } from 'vitest'

import { resolveOwnPage } from '../../../../src/http/routes/pages/sign-in.js'

describe('after sign-in', () => {
  test.each(['/ui', '/ui/', '/ui/approvals/5?view=all', '/ui/policies/a.b', '/ui?x=%2F..%2f'])(
    'the page %s opens',
    (path) => {
      expect(resolveOwnPage(path)).toBe(path)
    },
  )

  test('a page is named without steps up and down', () => {
    expect(resolveOwnPage('/ui/approvals/../policies')).toBe('/ui/policies')
    expect(resolveOwnPage('/ui/./approvals')).toBe('/ui/approvals')
  })

  test.each([
    '/ui/../audit',
    '/ui/..',
    '/ui/%2e%2e/audit',
    '/ui/.%2E/audit',
    '/ui/%2e%2e%2faudit',
    '/ui/..%2faudit',
    '/ui/..%5caudit',
    '/ui/%252e%252e/audit',
    '/ui/%25252e%25252e%25252faudit',
    '/ui/x/../../audit',
    '/ui/..\\audit',
    '/ui\\..\\audit',
    '/ui/\t../audit',
    '/ui/.\t./audit',
    '/ui/\n../audit',
    '//evil.example.org',
    '/\\evil.example.org',
    '/\t/evil.example.org',
    '///evil.example.org/ui',
    '//evil.example.org/ui/',
    'https://evil.example.org/ui',
    'javascript:alert(1)',
    '/ui@evil.example.org',
    '/uix',
    ' /ui',
    'ui',
    '/audit',
    '',
  ])('%j leads nowhere', (path) => {
    expect(resolveOwnPage(path)).toBeUndefined()
  })
})
