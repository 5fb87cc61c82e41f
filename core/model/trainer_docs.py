"""The keys of the trainer and the experiment manager in words, a line each, and what a resumed run needs of them."""

from __future__ import annotations

from .trainer import CALLBACK, MANAGER, TRAINER

SECTION_DOCS: dict[str, str] = {
    MANAGER: "NeMo's experiment manager: folders, loggers, checkpoints, and whether a run is resumed",
    CALLBACK: "The checkpoint callback: what makes it save, and what it keeps",
    TRAINER: "The arguments of Lightning's Trainer",
}

FIELD_DOCS: dict[str, str] = {
    f"{MANAGER}.explicit_log_dir": "The experiment's folder itself; `exp_dir`, `name` and `version` do not count beside it",
    f"{MANAGER}.exp_dir": "The folder above all experiments",
    f"{MANAGER}.name": "The experiment's name, a folder below `exp_dir`",
    f"{MANAGER}.version": "The run's name, a folder below the experiment's",
    f"{MANAGER}.use_datetime_version": "Call the run by the time it starts where no version is given",
    f"{MANAGER}.resume_if_exists": "Go on from the `*-last` checkpoint in the experiment's folder",
    f"{MANAGER}.resume_past_end": "Go on even after a run that has come to its end",
    f"{MANAGER}.resume_ignore_no_checkpoint": "Begin anew where there is no checkpoint yet, instead of raising",
    f"{MANAGER}.resume_from_checkpoint": "The checkpoint to go on from, by its path",
    f"{MANAGER}.create_tensorboard_logger": "Log to TensorBoard",
    f"{MANAGER}.create_wandb_logger": "Log to Weights & Biases",
    f"{MANAGER}.create_mlflow_logger": "Log to MLflow",
    f"{MANAGER}.create_checkpoint_callback": "Save checkpoints, as `checkpoint_callback_params` says",
    f"{MANAGER}.max_time_per_run": "When a chunk saves a checkpoint and ends itself, as `DD:HH:MM:SS` in quotes",
    f"{CALLBACK}.dirpath": "The folder of the checkpoints; below the experiment's folder where it is not set",
    f"{CALLBACK}.filename": "How checkpoints are called",
    f"{CALLBACK}.monitor": "The metric by which the best checkpoints are kept",
    f"{CALLBACK}.mode": "Whether a small (`min`) or a large (`max`) value of the metric is good",
    f"{CALLBACK}.save_last": "Keep a `*-last` checkpoint, the only one that `resume_if_exists` goes on from",
    f"{CALLBACK}.save_top_k": "How many of the best checkpoints are kept; -1 keeps all",
    f"{CALLBACK}.save_weights_only": "Save weights without the state of optimizer and dataloader",
    f"{CALLBACK}.every_n_epochs": "Save after so many epochs; has to be null or 0 beside another trigger",
    f"{CALLBACK}.every_n_train_steps": "Save after so many steps; needs `every_n_epochs: null`",
    f"{CALLBACK}.train_time_interval": "Save after a timedelta object; needs `every_n_epochs: null`",
    f"{CALLBACK}.save_on_train_epoch_end": "Save when a training epoch ends instead of after validation",
    f"{TRAINER}.devices": "GPUs on each node",
    f"{TRAINER}.num_nodes": "Nodes of one job",
    f"{TRAINER}.max_steps": "The step at which training is done; -1 for no bound",
    f"{TRAINER}.max_time": "Lightning's own time limit; `exp_manager.max_time_per_run` is the one for chunks",
    f"{TRAINER}.limit_train_batches": "How many batches make an epoch; data that repeats has no end of its own",
    f"{TRAINER}.limit_val_batches": "How many batches of validation data are read",
    f"{TRAINER}.val_check_interval": "Validate after so many batches, or after a part of an epoch",
    f"{TRAINER}.check_val_every_n_epoch": "Validate after so many epochs; null counts batches across epochs",
    f"{TRAINER}.use_distributed_sampler": "Put a sampler of Lightning's in the place of Lhotse's on several devices",
    f"{TRAINER}.logger": "Lightning's own logger",
    f"{TRAINER}.enable_checkpointing": "Lightning's own checkpoint callback",
}

#: What each needs so that chunks go on from one another.
FIELD_NEEDS: dict[str, str] = {
    f"{MANAGER}.explicit_log_dir": "the same folder in every chunk",
    f"{MANAGER}.exp_dir": "the same folder in every chunk",
    f"{MANAGER}.name": "the same name in every chunk",
    f"{MANAGER}.version": "the same in every chunk, or to be left out",
    f"{MANAGER}.resume_if_exists": "`true`",
    f"{MANAGER}.resume_ignore_no_checkpoint": "`true`: the first chunk has no checkpoint",
    f"{MANAGER}.create_checkpoint_callback": "`true`",
    f"{MANAGER}.max_time_per_run": "less than the job's walltime, so that a checkpoint is saved before it ends",
    f"{CALLBACK}.save_last": "`true`",
    f"{CALLBACK}.save_weights_only": "`false`",
    f"{CALLBACK}.every_n_train_steps": "a trigger within the epoch, where epochs are long or have no end",
    f"{CALLBACK}.every_n_epochs": "`null` where another trigger is set",
    f"{TRAINER}.devices": "the same in every chunk",
    f"{TRAINER}.num_nodes": "the same in every chunk",
    f"{TRAINER}.limit_train_batches": "a number of batches: data that repeats has no end of its own",
    f"{TRAINER}.use_distributed_sampler": "`false`: Lhotse shares the data between ranks itself",
    f"{TRAINER}.logger": "`false` beside exp_manager, which makes its own",
    f"{TRAINER}.enable_checkpointing": "`false` beside exp_manager, which makes its own",
}

#: The values of a key that takes few, each with a word.
FIELD_CHOICES: dict[str, dict[str, str]] = {
    f"{CALLBACK}.mode": {"min": "a small value is good", "max": "a large value is good"},
}
