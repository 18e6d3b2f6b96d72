import {
  type Front,
  joinLine,
  type LeaveStatements,
  leaveStatements,
  readFront,
  stayInLine,
  stepBack,
} from '../db/commit/turns.ts';
import type { Database } from '../db/database.ts';
import { type NoticeBoard, turnMessage } from './notices.ts';

/**
 * Decides which server may write to an account when several servers want to. A plan on an outdated revision is in vain,
 * and the server that wrote last is fastest with its next plan: without an order, some servers would lose every race,
 * above all those whose plans take long. The account must not be locked during planning, because a server that stops
 * then would block all others. Therefore servers that lost races join a line, which every commit checks. While the line
 * is not empty, only the commits of its first server are written; all other commits write nothing and report that, and
 * their servers join the line. A server keeps its turn while it has something to write, for a moment at most, and then
 * notifies the next server.
 */
export interface Turns {
  /**
   * Opens a place in the line of an account, without waiting for the turn. Only one place at a time may be open under
   * one name.
   */
  open(account: string, name?: string): Turn;
}

/** A place in the line of an account. */
export interface Turn {
  /** Name under which its commits are written during the turn. */
  readonly contender: string;
  /** Lower bound for the revision of the account when the turn came. */
  readonly revision: number;
  /** Returns whether another server wrote a moment ago, so that a plan before the turn would most likely be in vain. */
  isContended(): boolean;
  /**
   * Waits for the turn. Returns immediately during the turn, and without a turn when the database cannot be reached.
   */
  take(): Promise<void>;
  /**
   * Returns whether a batch that is already planned may be written. Goes to the end of the line when the turn has
   * lasted long enough.
   */
  mayContinue(): Promise<boolean>;
  /**
   * Returns the statements with which the commit of the revision with this request id also leaves the line. Empty when
   * it is not this place's turn.
   */
  leaveStatements(requestId: string): LeaveStatements;
  /** Records that a commit with these statements was written. */
  recordLeft(): void;
  /**
   * Leaves the line, so that other servers need not wait. The statement has been sent when this method returns its
   * promise.
   */
  leave(): Promise<void>;
  /**
   * Records that a commit met another writer: the account had moved on, or another server had the turn. The next call of
   * `take` then asks the database whose turn it is.
   */
  recordMeeting(): void;
  /** Whether this place may still be in the line, with or without the turn. */
  readonly isInLine: boolean;
}

/** Times of the turns, in seconds. */
export interface TurnTimeouts {
  /** Time that other servers wait for a server that stopped. A place is prolonged three times in this period. */
  readonly lease: number;
  /** Maximum time for which a turn is prolonged, from its start. */
  readonly maxTurn: number;
  /** Time after which the turn passes to the next server, even when there is more to write. */
  readonly sliceSeconds: number;
  /**
   * Interval at which a waiting server checks whether its turn has come. Five times as long after a turn that a notice
   * announced.
   */
  readonly pollSeconds: number;
}

const defaultTimeouts: TurnTimeouts = { lease: 6, maxTurn: 120, sliceSeconds: 0.1, pollSeconds: 0.05 };

/** Time after meeting another writer during which a server joins the line before it plans, in milliseconds. */
const contentionMemoryMs = 250;

/** Number of accounts in memory above which accounts without a recent meeting are forgotten. */
const maxRemembered = 1000;

/** Creates the turns of one server. */
export function createTurns(
  database: Database,
  notices: NoticeBoard,
  server: string,
  times: TurnTimeouts = defaultTimeouts,
): Turns {
  const line: Line = { database, timeouts: times, meetings: new Map(), wakers: new Map(), noticesArrive: false };
  notices.on((notice) => {
    if (notice.what === 'turn') line.wakers.get(`${notice.account} ${notice.contender}`)?.(notice);
  });
  return {
    open: (account, name) => new PlaceInLine(line, account, name === undefined ? server : `${server}/${name}`),
  };
}

/** State that the places of one server share. */
interface Line {
  readonly database: Database;
  readonly timeouts: TurnTimeouts;
  /** Time of the last meeting with another writer, by account. */
  readonly meetings: Map<string, number>;
  /** Functions that wake waiting places, by account and contender. */
  readonly wakers: Map<string, (front: Front) => void>;
  /** Whether a notice announced the last turn. */
  noticesArrive: boolean;
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

  get isInLine(): boolean {
    return this.#isInLine;
  }

  isContended(): boolean {
    return (
      this.#begun === undefined &&
      performance.now() - (this.#line.meetings.get(this.#account) ?? -contentionMemoryMs) < contentionMemoryMs
    );
  }

  recordMeeting(): void {
    // The turn may be over: a place expires while its process stands still.
    this.#stop();
    this.#rememberMeeting();
  }

  async take(): Promise<void> {
    if (this.#begun !== undefined) return;
    await this.#leaving;
    const front = await ignoreFailure(() => this.#wait());
    if (front !== undefined) this.#begin(front);
  }

  async mayContinue(): Promise<boolean> {
    const { sliceSeconds: slice, lease: seconds } = this.#line.timeouts;
    if (this.#begun === undefined) return !this.isContended();
    if (performance.now() - this.#begun < slice * 1000) return true;
    const front = await this.#stepBack(seconds);
    if (front?.contender === this.contender) {
      this.#begin(front);
      return true;
    }
    return false;
  }

  leaveStatements(requestId: string): LeaveStatements {
    if (this.#begun === undefined) return [];
    return leaveStatements(
      { account: this.#account, contender: this.contender, message: turnMessage(this.#account) },
      requestId,
    );
  }

  recordLeft(): void {
    this.#stop();
    this.#isInLine = false;
  }

  async leave(): Promise<void> {
    if (this.#isInLine) {
      this.#isInLine = false;
      this.#leaving = this.#stepBack(0);
    }
    await this.#leaving;
  }

  #rememberMeeting(): void {
    const { meetings } = this.#line;
    const now = performance.now();
    if (meetings.size >= maxRemembered)
      for (const [account, at] of meetings) if (now - at >= contentionMemoryMs) meetings.delete(account);
    meetings.set(this.#account, now);
  }

  #begin({ revision }: Front): void {
    const { lease } = this.#line.timeouts;
    this.revision = revision;
    this.#begun = performance.now();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#prolong(), (lease * 1000) / 3);
  }

  /** Ends the turn, without leaving the line. */
  #stop(): void {
    clearInterval(this.#timer);
    this.#begun = undefined;
  }

  async #prolong(): Promise<void> {
    const { lease, maxTurn } = this.#line.timeouts;
    const begun = this.#begun;
    if (begun === undefined) return;
    if (performance.now() - begun >= maxTurn * 1000) return this.leave();
    // When the place has left the line before this statement arrives, the statement does not put it back.
    const { database } = this.#line;
    const isFirst = await ignoreFailure(() => stayInLine(database, this.#account, this.contender, lease));
    if (isFirst === false && this.#begun === begun) this.#stop();
  }

  /** Waits for the turn and returns the front of the line. Returns `undefined` when the account is gone. */
  async #wait(): Promise<Front | undefined> {
    const { database, timeouts, wakers } = this.#line;
    const key = `${this.#account} ${this.contender}`;
    const called = Promise.withResolvers<Front>();
    wakers.set(key, called.resolve);
    try {
      for (let joined = -Infinity; ; ) {
        const isDue = performance.now() - joined >= (timeouts.lease * 1000) / 3;
        if (isDue) joined = performance.now();
        this.#isInLine = true;
        const front = isDue
          ? await joinLine(database, this.#account, this.contender, timeouts.lease)
          : await readFront(database, this.#account);
        if (front === undefined || front.contender === this.contender) {
          if (!isDue) this.#line.noticesArrive = false;
          return front;
        }
        this.#rememberMeeting();
        const look = Promise.withResolvers<undefined>();
        const timer = setTimeout(
          () => look.resolve(undefined),
          timeouts.pollSeconds * (this.#line.noticesArrive ? 5000 : 1000),
        );
        const call = await Promise.race([called.promise, look.promise]);
        clearTimeout(timer);
        if (call === undefined) continue;
        this.#line.noticesArrive = true;
        return call;
      }
    } finally {
      wakers.delete(key);
    }
  }

  async #stepBack(seconds: number): Promise<Front | undefined> {
    this.#stop();
    const { database, wakers } = this.#line;
    const to = { seconds, message: turnMessage(this.#account) };
    const front = await ignoreFailure(() => stepBack(database, this.#account, this.contender, to));
    if (front === undefined || front.contender === this.contender) return front;
    this.#rememberMeeting();
    wakers.get(`${this.#account} ${front.contender}`)?.(front);
    return front;
  }
}

/**
 * Returns `undefined` when the work fails. A turn only saves attempts: without it the outcome is the same, only later.
 * The write itself reports a database that cannot be reached.
 */
function ignoreFailure<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return work().catch(() => undefined);
}
