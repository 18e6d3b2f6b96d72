import { type Front, joinLine, type Leaving, leaveWith, readFront, stayInLine, stepBack } from '../db/commit/turns.ts';
import type { Database } from '../db/database.ts';
import { type NoticeBoard, turnMessage } from './notices.ts';

/**
 * Who may write to an account when several servers want to. A plan on a revision that another server has moved on from is
 * in vain, and the last writer is fastest with the next one: without an order some would lose every race, a plan that
 * takes long most of all. The account must not be locked while something is planned, because a server that stops
 * meanwhile would block all others. So those who lost races stand in line, which every commit looks at: while somebody
 * stands there, the commits of all but the first write nothing and report that, and their servers join the line. Each
 * keeps its turn while it has something to write, for a moment at most, and lets the next one know.
 */
export interface Turns {
  /** A place in the line of an account, which is not taken yet. One of them is open at a time under one name. */
  open(account: string, name?: string): Turn;
}

/** A place in the line of an account. */
export interface Turn {
  /** Under this name its commits are written while it is its turn. */
  readonly contender: string;
  /** The revision that the account had, at least, when the turn came. */
  readonly revision: number;
  /** Whether others wrote a moment ago, so that planning before the turn has come would most likely be in vain. */
  isAdvised(): boolean;
  /** Waits for its turn, as far as it can be had; nothing while it has come. */
  take(): Promise<void>;
  /** Whether what is planned already may be written; goes behind all others when the turn has lasted for long enough. */
  mayGoOn(): Promise<boolean>;
  /** What a commit that makes this revision has to carry to leave the line with it; nothing while it stands in none. */
  leavingWith(revision: number): Leaving;
  /** Such a commit was written. */
  left(): void;
  /** Leaves the line, so that the others need not wait. What is sent has left when this returns. */
  end(): Promise<void>;
  /** A commit met another writer: it was overtaken, or it is another one's turn. */
  met(how: 'moved' | 'turn'): void;
}

/** How turns pass between servers, in seconds. */
export interface TurnTimes {
  /** How long the others wait for one that stopped. Its place is prolonged three times as often. */
  readonly lease: number;
  /** For how long a turn is prolonged, counted from its start. */
  readonly most: number;
  /** After how long it passes to the next one although more is to be written. */
  readonly slice: number;
  /** How often those who wait look whether their turn has come, until a notice was heard: then a fifth as often. */
  readonly look: number;
}

const usualTimes: TurnTimes = { lease: 6, most: 120, slice: 0.1, look: 0.05 };

/** For how long after meeting others a server joins the line before it plans. */
const memoryMs = 250;

/** How many accounts are remembered before those are forgotten in which nobody was met of late. */
const remembered = 1000;

/** Creates the turns of one server. */
export function createTurns(
  database: Database,
  notices: NoticeBoard,
  server: string,
  times: TurnTimes = usualTimes,
): Turns {
  const line: Line = { database, times, met: new Map(), waiting: new Map(), hears: false };
  notices.on((notice) => {
    if (notice.what === 'turn') line.waiting.get(`${notice.account} ${notice.contender}`)?.(notice);
  });
  return {
    open: (account, name) => new PlaceInLine(line, account, name === undefined ? server : `${server}/${name}`),
  };
}

/** What the places of one server share. */
interface Line {
  readonly database: Database;
  readonly times: TurnTimes;
  /** When others were met last, by account. */
  readonly met: Map<string, number>;
  /** Whom to wake, by account and contender. */
  readonly waiting: Map<string, (front: Front) => void>;
  /** Whether the last turn came by a notice. */
  hears: boolean;
}

class PlaceInLine implements Turn {
  readonly contender: string;
  revision = 0;
  readonly #line: Line;
  readonly #account: string;
  #begun: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isInLine = false;
  #leaving: Promise<unknown> | undefined;

  constructor(line: Line, account: string, contender: string) {
    this.#line = line;
    this.#account = account;
    this.contender = contender;
  }

  isAdvised(): boolean {
    return this.#begun === undefined && performance.now() - (this.#line.met.get(this.#account) ?? -memoryMs) < memoryMs;
  }

  met(how: 'moved' | 'turn'): void {
    if (how === 'turn') this.#stop();
    this.#remember();
  }

  async take(): Promise<void> {
    if (this.#begun !== undefined) return;
    await this.#leaving;
    const front = await unlessAway(() => this.#wait());
    if (front !== undefined) this.#begin(front);
  }

  async mayGoOn(): Promise<boolean> {
    const { slice, lease: seconds } = this.#line.times;
    if (this.#begun === undefined) return !this.isAdvised();
    if (performance.now() - this.#begun < slice * 1000) return true;
    const front = await this.#stepBack(seconds);
    if (front?.contender === this.contender) {
      this.#begin(front);
      return true;
    }
    return false;
  }

  leavingWith(revision: number): Leaving {
    if (this.#begun === undefined) return [];
    return leaveWith(
      { account: this.#account, contender: this.contender, message: turnMessage(this.#account) },
      revision,
    );
  }

  left(): void {
    this.#stop();
    this.#isInLine = false;
  }

  async end(): Promise<void> {
    if (this.#isInLine) {
      this.#isInLine = false;
      this.#leaving = this.#stepBack(0);
    }
    await this.#leaving;
  }

  #remember(): void {
    const { met } = this.#line;
    const now = performance.now();
    if (met.size >= remembered) for (const [account, at] of met) if (now - at >= memoryMs) met.delete(account);
    met.set(this.#account, now);
  }

  #begin({ revision }: Front): void {
    const { lease } = this.#line.times;
    this.revision = revision;
    this.#begun = performance.now();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#prolong(), (lease * 1000) / 3);
  }

  /** It is its turn no more. */
  #stop(): void {
    clearInterval(this.#timer);
    this.#begun = undefined;
  }

  async #prolong(): Promise<void> {
    const { lease, most } = this.#line.times;
    const begun = this.#begun;
    if (begun === undefined) return;
    if (performance.now() - begun >= most * 1000) return this.end();
    // It may have left the line before this arrives, and is not put back then.
    const { database } = this.#line;
    const front = await unlessAway(() => stayInLine(database, this.#account, this.contender, lease));
    if (front !== undefined && front.contender !== this.contender && this.#begun === begun) this.#stop();
  }

  /** The account when its turn has come; `undefined` when it is gone. */
  async #wait(): Promise<Front | undefined> {
    const { database, times, waiting } = this.#line;
    const key = `${this.#account} ${this.contender}`;
    const called = Promise.withResolvers<Front>();
    waiting.set(key, called.resolve);
    try {
      for (let joined = -Infinity; ; ) {
        const isDue = performance.now() - joined >= (times.lease * 1000) / 3;
        if (isDue) joined = performance.now();
        this.#isInLine = true;
        const front = isDue
          ? await joinLine(database, this.#account, this.contender, times.lease)
          : await readFront(database, this.#account);
        if (front === undefined || front.contender === this.contender) {
          if (!isDue) this.#line.hears = false;
          return front;
        }
        this.#remember();
        const look = Promise.withResolvers<undefined>();
        const timer = setTimeout(() => look.resolve(undefined), times.look * (this.#line.hears ? 5000 : 1000));
        const call = await Promise.race([called.promise, look.promise]);
        clearTimeout(timer);
        if (call === undefined) continue;
        this.#line.hears = true;
        return call;
      }
    } finally {
      waiting.delete(key);
    }
  }

  async #stepBack(seconds: number): Promise<Front | undefined> {
    this.#stop();
    const { database, waiting } = this.#line;
    const to = { seconds, message: turnMessage(this.#account) };
    const front = await unlessAway(() => stepBack(database, this.#account, this.contender, to));
    if (front === undefined || front.contender === this.contender) return front;
    this.#remember();
    waiting.get(`${this.#account} ${front.contender}`)?.(front);
    return front;
  }
}

/** A turn only saves attempts: without it the outcome is the same, only later; the work itself reports a database that is away. */
function unlessAway<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return work().catch(() => undefined);
}
