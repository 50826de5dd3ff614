"""Tasks on tokens in space as the loop sees them: order, hidden tokens, seeds together and alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from poscope.training.devices import CPU
from poscope.training.initialization_block import make_task, read_block
from poscope.training.initialization_data import Series
from poscope.training.initialization_puzzles import PuzzleTask
from poscope.training.initialization_series import draw_masks, hidden_count, padded
from poscope.training.loop import train
from poscope.training.precision import choose_precision
from tests.support.initialization_tasks import LEARNED, SETTINGS, write_puzzles, write_series

PLACE = torch.device("cpu")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    return {
        "puzzles": write_puzzles(folder / "puzzles"),
        "same": write_series(folder / "same"),
        "next": write_series(folder / "next", step="next"),
    }


def block_of(folder, seeds=(0, 1, 2), **changes):
    return read_block(
        data_folder=folder,
        table_path=None,
        encoding=LEARNED,
        seeds=list(seeds),
        settings=SETTINGS | changes,
    )


def task_of(folder, seeds=(0, 1, 2), *, together=False, **changes):
    return make_task(block_of(folder, seeds, **changes), PLACE, together=together)


def run(task, block):
    loop = block.settings.loop(checkpoint_minutes=1e9, checkpoint_epochs=None, progress_seconds=1e9)
    precision = choose_precision(CPU, "auto")
    return train(task, loop, device=PLACE, precision=precision, checkpoints=None)


def outputs(task):
    if isinstance(task, PuzzleTask):
        return list(task.logits())
    return [np.stack(each) for each in task.squares()]


@pytest.mark.parametrize("name", ["puzzles", "same", "next"])
@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_seeds_together_give_the_numbers_of_each_alone(folders, name, optimiser):
    changes = {"optimiser": optimiser, "momentum": 0.5, "epochs": 2, "learning_rate": 1e-3}
    block = block_of(folders[name], **changes)
    together = make_task(block, PLACE, together=True)
    found = run(together, block)
    for number, seed in enumerate(block.seeds):
        single_block = block_of(folders[name], [seed], **changes)
        alone = make_task(single_block, PLACE, together=True)
        single = run(alone, single_block)
        np.testing.assert_allclose(
            outputs(together)[number], outputs(alone)[0], rtol=1e-5, atol=1e-6
        )
        tables = together.model.positions[number], alone.model.positions[0]
        torch.testing.assert_close(*tables, rtol=0, atol=1e-6)
        for stacked, own in zip(found.history, single.history, strict=True):
            for column in own:
                if column.endswith(f"of seed {seed}"):
                    assert stacked[column] == pytest.approx(own[column], abs=1e-6)


@pytest.mark.parametrize("name", ["puzzles", "same"])
def test_apart_and_together_are_the_same_networks(folders, name):
    block = block_of(folders[name], epochs=2, learning_rate=1e-3)
    tasks = [make_task(block, PLACE, together=together) for together in (True, False)]
    histories = [run(task, block).history for task in tasks]
    for first, second in zip(*histories, strict=True):
        assert first == pytest.approx(second, abs=1e-6)
    for first, second in zip(*map(outputs, tasks), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("name", ["puzzles", "same"])
def test_micro_batches_add_up_to_the_batch(folders, name, together):
    task = task_of(folders[name], together=together)
    batch = task.batches(0)[0]
    whole = task.loss(replace(batch, apart=False))
    assert whole.shape == (3,)
    for parts in (1, 2, 5):
        pieces = batch.split(parts)
        assert len(pieces) == parts * (1 if together else 3)
        torch.testing.assert_close(sum(task.loss(each) for each in pieces), whole)


def test_each_seed_goes_through_all_puzzles_in_an_order_of_its_own(folders):
    task = task_of(folders["puzzles"])
    epochs = [torch.cat([batch.rows for batch in task.batches(epoch)]) for epoch in (0, 1)]
    for rows in epochs:
        assert rows.shape == (72, 3)
        for seed in range(3):
            assert sorted(rows[:, seed].tolist()) == list(range(72))
    orders = torch.cat(epochs, dim=1).T.tolist()
    assert len({tuple(order) for order in orders}) == 6
    batches = task.batches(0)
    assert [batch.terms for batch in batches] == [16, 16, 16, 16, 8]
    assert sum(task.units(batch) for batch in batches) == 3 * 72
    again = torch.cat([batch.rows for batch in task_of(folders["puzzles"], [1]).batches(1)])
    assert again[:, 0].tolist() == epochs[1][:, 1].tolist()


def test_no_seed_sees_its_own_fold_and_all_take_as_many_steps(folders):
    for seeds in ([0, 1, 2], [2, 5], [3]):
        task = task_of(folders["same"], seeds)
        rows = torch.cat([batch.rows for batch in task.batches(4)]).numpy()
        assert rows.shape == (60, len(seeds))  # 96 examples, and 36 in the largest fold
        for number, seed in enumerate(seeds):
            folds = task.series.folds[rows[:, number]]
            assert len(set(rows[:, number].tolist())) == 60
            assert set(folds.tolist()) == {0, 1, 2} - {seed % 3}
            heldout = task.rows[task.kept[:, number], number]
            assert (task.series.folds[heldout] == seed % 3).all()
            assert len(heldout) == (task.series.folds == seed % 3).sum()


def test_hidden_tokens_differ_by_seed_and_epoch_and_are_fixed_in_evaluation(folders):
    task = task_of(folders["same"])
    task.batches(0)
    first = task._masks.clone()
    place = task._masks.data_ptr()
    task.batches(1)
    assert task._masks.data_ptr() == place
    assert (first.sum(dim=-1) == 2).all()
    drawn = [*first, *task._masks]
    for number, one in enumerate(drawn):
        for other in drawn[:number]:
            assert 0.3 < (one != other).float().mean() < 0.6  # expected: 4 / 9
    other = task_of(folders["next"], [7], epochs=9)
    np.testing.assert_array_equal(task.fixed_masks, other.fixed_masks)
    task.batches(0)
    assert torch.equal(task._masks, first)


def test_a_hidden_token_shows_only_that_it_is_hidden(folders):
    task = task_of(folders["next"])
    task.batches(0)
    rows = torch.tensor([[3, 40], [5, 6], [70, 0]])
    features = task.shown(rows)
    assert features.shape == (3, 2, 6, 2)
    hidden = torch.from_numpy(task.fixed_masks)[rows]
    seen = torch.from_numpy(task.series.values)[rows]
    torch.testing.assert_close(features[..., 0], torch.where(hidden, 0.0, seen))
    torch.testing.assert_close(features[..., 1], hidden.float())


@pytest.mark.parametrize("name", ["same", "next"])
def test_the_loss_is_over_hidden_targets_alone(folders, name):
    task = task_of(folders[name])
    batch = task.batches(2)[1]
    rows = batch.rows.t()
    hidden = task._masks[torch.arange(3)[:, None], rows]
    shown = torch.stack(
        [torch.where(hidden, 0.0, torch.from_numpy(task.series.values)[rows]), hidden.float()], -1
    )
    errors = (task.model(shown)[..., 0] - torch.from_numpy(task.series.targets)[rows]) ** 2
    expected = [errors[seed][hidden[seed]].mean() * 16 for seed in range(3)]
    torch.testing.assert_close(task.loss(replace(batch, apart=False)), torch.stack(expected))
    moved = task.series.targets is not task.series.values
    assert moved == (name == "next")


def test_the_next_steps_values_are_the_targets(folders):
    block = block_of(folders["next"])
    assert isinstance(block.data, Series)
    np.testing.assert_array_equal(block.data.targets[:-1], block.data.values[1:])


def test_puzzles_are_one_hot_and_empty_cells_nought(folders):
    task = task_of(folders["puzzles"])
    rows = torch.tensor([[3], [3], [80]])
    cells = torch.from_numpy(task.puzzles.cells)[rows]
    features = task.shown(rows)
    assert features.shape == (3, 1, 4, 3)
    assert torch.equal(features.sum(-1), (cells > 0).float())
    assert torch.equal((features * torch.tensor([1.0, 2, 3])).sum(-1), cells.float())


def test_the_mean_attention_is_over_each_seeds_own_held_out_examples(folders):
    task = task_of(folders["same"])
    mean = task.mean_attention()
    for number in range(3):
        rows = np.repeat(task.series.heldout(number)[:, None], 3, axis=1)
        with torch.no_grad():
            shown = task.shown(torch.from_numpy(rows.T.copy()))
            every = task.model.attention(shown, torch.full(rows.T.shape, 1 / len(rows)))
        np.testing.assert_allclose(mean[number], every[number].numpy(), rtol=1e-4, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 30),
    tokens=st.integers(1, 40),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32),
)
def test_exactly_so_many_tokens_are_hidden(count, tokens, share, seed):
    hidden = hidden_count(tokens, share)
    assert 1 <= hidden <= tokens
    assert abs(hidden - share * tokens) <= max(0.5, 1 - share * tokens)
    masks = draw_masks((count, tokens), hidden, np.random.default_rng(seed))
    assert (masks.sum(axis=1) == hidden).all()


def test_every_token_is_hidden_as_often_as_another():
    masks = draw_masks((6000, 5), 2, np.random.default_rng(0))
    np.testing.assert_allclose(masks.mean(axis=0), 0.4, atol=0.03)


def test_rows_of_unequal_number_are_filled_up_and_do_not_count():
    rows, kept = padded([np.array([4, 5, 6]), np.array([9])])
    assert rows.tolist() == [[4, 9], [5, 9], [6, 9]]
    assert kept.tolist() == [[True, True], [True, False], [True, False]]


def test_memory_that_runs_out_in_evaluation_costs_pieces_and_no_numbers(folders, monkeypatch):
    from poscope.models.token_transformer import SideBySide

    task = task_of(folders["same"])
    expected, attention = task.outputs(task.rows), task.mean_attention()
    forward, maps = SideBySide.forward, SideBySide.attention

    def with_little_room(act):
        def checked(self, features, *rest):
            if features.shape[1] > 10:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return act(self, features, *rest)

        return checked

    monkeypatch.setattr(SideBySide, "forward", with_little_room(forward))
    monkeypatch.setattr(SideBySide, "attention", with_little_room(maps))
    np.testing.assert_allclose(task.outputs(task.rows), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(task.mean_attention(), attention, rtol=1e-5, atol=1e-6)
