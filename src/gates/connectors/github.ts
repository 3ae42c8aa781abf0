import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import { repositoryTool, overallState } from './tool/commit-lookups.js'
import type { FetchFromRepository, CheckState } from './tool/commit-lookups.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

/** Largest page of GitHub. */
const PAGE_SIZE = 100
const FINE_CONCLUSIONS: readonly unknown[] = ['success', 'neutral', 'skipped']

const Person = z.object({ name: optionalText, email: optionalText, date: optionalText }).nullish()
const Commit = z.object({
  sha: shortText,
  html_url: optionalText,
  commit: z.object({
    message: shortText,
    author: Person,
    verification: z.object({ verified: z.boolean() }).nullish(),
  }),
})
const Statuses = z.object({
  total_count: z.number(),
  statuses: z.array(z.object({ context: shortText, state: z.string() })),
})
const CheckRuns = z.object({
  total_count: z.number(),
  check_runs: z.array(z.object({ name: shortText, status: z.string(), conclusion: optionalText })),
})
const Pull = z.object({
  number: z.number(),
  title: shortText,
  state: z.string(),
  merged: z.boolean().nullish(),
  draft: z.boolean().nullish(),
  mergeable_state: optionalText,
  merge_commit_sha: optionalText,
  user: z.object({ login: shortText }).nullish(),
  head: z.object({ ref: shortText, sha: shortText }),
  base: z.object({ ref: shortText }),
  html_url: optionalText,
})

interface Check {
  readonly name: string
  readonly state: CheckState
}

const fetchCommit: FetchFromRepository = async (read, baseUrl, repository, commitId) => {
  const path = [...repositorySegments(repository), 'commits', commitId]
  const page = { per_page: String(PAGE_SIZE) }
  const [commit, statuses, runs] = await Promise.all([
    read(Commit, toolUrl(baseUrl, path)),
    read(Statuses, toolUrl(baseUrl, [...path, 'status'], page)),
    read(CheckRuns, toolUrl(baseUrl, [...path, 'check-runs'], page)),
  ])
  const checks = [...toChecks(statuses, runs)]
  return {
    kind: 'commit',
    repository,
    commitId: commit.sha,
    state: overallState(checks.map(({ state }) => state)),
    unfinishedChecks: checks.filter(({ state }) => state !== 'success'),
    title: commit.commit.message.split('\n', 1)[0],
    author: commit.commit.author?.name ?? null,
    authorEmail: commit.commit.author?.email ?? null,
    committedAt: commit.commit.author?.date ?? null,
    isVerified: commit.commit.verification?.verified ?? false,
    url: commit.html_url,
  }
}

function toChecks(statuses: z.output<typeof Statuses>, runs: z.output<typeof CheckRuns>): Check[] {
  if (Math.max(statuses.total_count, runs.total_count) > PAGE_SIZE) {
    throw new AppError('too_large', `the commit has more than ${PAGE_SIZE} checks`)
  }
  const ofStatuses = statuses.statuses.map(({ context, state }) => ({
    name: context,
    state: ofStatus(state),
  }))
  const ofRuns = runs.check_runs.map(({ name, status, conclusion }) => ({
    name,
    state: status === 'completed' ? ofConclusion(conclusion) : ('pending' as const),
  }))
  return [...ofStatuses, ...ofRuns]
}

function ofStatus(state: string): CheckState {
  return state === 'success' || state === 'pending' ? state : 'failure'
}

function ofConclusion(conclusion: string | null): CheckState {
  return FINE_CONCLUSIONS.includes(conclusion) ? 'success' : 'failure'
}

const fetchPull: FetchFromRepository = async (read, baseUrl, repository, number) => {
  const pull = await read(Pull, toolUrl(baseUrl, [...repositorySegments(repository), 'pulls', number]))
  return {
    kind: 'pullRequest',
    repository,
    number: pull.number,
    state: pull.merged === true ? 'merged' : pull.state,
    isDraft: pull.draft ?? false,
    mergeState: pull.mergeable_state,
    title: pull.title,
    author: pull.user?.login ?? null,
    sourceBranch: pull.head.ref,
    targetBranch: pull.base.ref,
    commitId: pull.head.sha,
    mergeCommitId: pull.merge_commit_sha,
    url: pull.html_url,
  }
}

function repositorySegments(repository: string): string[] {
  return ['repos', ...repository.split('/')]
}

/**
 * Commits with the results of their checks, and pull requests, from the REST API of GitHub
 * (`https://api.github.com`) or GitHub Enterprise Server (`https://HOST/api/v3`).
 */
export const github = repositoryTool(['GITHUB', 'GIT'], 'pullRequest', fetchCommit, fetchPull)
