/** Traffic of a planned deployment. */
export interface Traffic {
  /** Plugins: none, the default pipeline, or the default pipeline with caps per day and month. */
  pipeline: 'none' | 'default' | 'capped'
  /** Share of the requests that `exact-cache` answers, from 0 to 1. */
  hits: number
  requestKilobytes: number
  replyKilobytes: number
  /** Share of the replies that are streams, from 0 to 1. */
  streams: number
  /** Events of a stream, each in a packet of its own. */
  streamEvents: number
  /** Duration of a reply. */
  replySeconds: number
}

/** Coding agents: long requests, long streams, no repetition. */
export const AGENTS: Traffic = {
  pipeline: 'default',
  hits: 0,
  requestKilobytes: 60,
  replyKilobytes: 8,
  streams: 0.9,
  streamEvents: 200,
  replySeconds: 15,
}

/** Machine of a gateway, with one process per core and nothing else. */
export const MACHINE = { cores: 4, memoryGigabytes: 8 } as const
